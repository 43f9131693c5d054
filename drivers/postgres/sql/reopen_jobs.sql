-- statement reopenJobs, takes ids waits latest now
-- Moves jobs that were not started, which are locked, back: they wait again. The retry of a
-- job with dependents leaves a row in release, with state 1.
WITH gone AS (
    DELETE FROM {schema}.history AS h USING unnest(:ids::bigint[], :waits::integer[], :latest::timestamptz[]) AS o (id, waits, latest)
    WHERE h.id = ANY (ARRAY[o.id])
    RETURNING o.waits AS open_edges, o.latest, EXISTS (SELECT FROM {schema}.edge AS e WHERE e.on_id = h.id OFFSET 0) AS followed, h.*
), retried AS (
    INSERT INTO {schema}.release (ids, ended_at, states, reasons)
    SELECT array_agg(id), coalesce(:now::timestamptz, now()), array_agg(1::smallint), array_agg(''::text) FROM gone WHERE followed HAVING count(*) > 0
)
INSERT INTO {schema}.job (state, waits, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec})
SELECT 1, open_edges, attempt, id, greatest(run_at, latest), created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes,
    releases OR followed, {spec} FROM gone
