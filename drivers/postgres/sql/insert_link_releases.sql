-- statement insertLinkReleases, takes now channel wake ids, returns sent
-- Inserts notes of jobs that may not have ended: a step looks them up. The wake-up, if :wake is one,
-- leaves with the commit; if it is empty, the statement returns the number of its transaction.
WITH noted AS (
    INSERT INTO {schema}.release (ids, ended_at, states, reasons)
    SELECT array_agg(id), coalesce(:now::timestamptz, now()), array_agg(0::smallint), array_agg(''::text) FROM unnest(:ids::bigint[]) AS o (id)
)
SELECT (SELECT CASE :wake::text WHEN '' THEN pg_current_xact_id()::text ELSE pg_notify(:channel::text, :wake::text)::text END
    WHERE :wake::text IS NOT NULL) AS sent
