-- statement updateAudit, takes id count kinds names most, returns found
-- Adds a count, and subjects up to a number of subjects, to an entry of the audit.
WITH entry AS (
    UPDATE {schema}.audit SET count = count + :count::bigint WHERE id = :id::bigint
    RETURNING id
), subjects AS (
    INSERT INTO {schema}.audit_subject (entry_id, place, kind, name)
    SELECT e.id, k.known + s.n - 1, s.kind, s.name
    FROM entry AS e
        CROSS JOIN (SELECT count(*) AS known FROM {schema}.audit_subject WHERE entry_id = :id) AS k
        CROSS JOIN unnest(:kinds::text[], :names::text[]) WITH ORDINALITY AS s (kind, name, n)
    WHERE k.known + s.n <= :most::bigint
)
SELECT count(*) AS found FROM entry
