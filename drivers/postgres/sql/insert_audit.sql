-- statement insertAudit, takes now actor source action count detail kinds names, returns id
-- Stores an entry of the audit with its subjects.
WITH entry AS (
    INSERT INTO {schema}.audit (at, actor, source, action, count, detail)
    VALUES (coalesce(:now::timestamptz, now()), :actor::text, :source::text, :action::text, :count::bigint, :detail::text)
    RETURNING id
), subjects AS (
    INSERT INTO {schema}.audit_subject (entry_id, place, kind, name)
    SELECT e.id, s.n - 1, s.kind, s.name FROM entry AS e CROSS JOIN unnest(:kinds::text[], :names::text[]) WITH ORDINALITY AS s (kind, name, n)
)
SELECT id FROM entry
