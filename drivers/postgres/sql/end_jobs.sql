-- Moves locked jobs to history though no outcome says so: cancelled while they
-- rested, superseded, lost.
WITH ended AS (
    DELETE FROM {schema}.job AS j
    USING unnest(:ids::bigint[], :states::smallint[], :reasons::text[]) AS o (id, state, reason)
    WHERE j.id = ANY (ARRAY[o.id])
    RETURNING j.*, o.state AS end_state, o.reason
)
, released AS (
    INSERT INTO {schema}.release (ids, ended_at, states, reasons)
    SELECT array_agg(id), coalesce(:now::timestamptz, now()), array_agg(end_state), array_agg(reason) FROM ended WHERE releases HAVING count(*) > 0
)
INSERT INTO {schema}.history (finished_at, state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec})
SELECT coalesce(:now::timestamptz, now()), end_state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec} FROM ended
RETURNING schedule_id, origin = 3 AS backfill
