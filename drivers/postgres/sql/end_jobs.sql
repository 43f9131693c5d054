-- statement endJobs, takes now ids states reasons, returns schedule_id backfill
-- Moves locked jobs to history though no outcome says so: cancelled while they
-- rested, superseded, lost.
WITH ended AS (
    DELETE FROM {schema}.job AS j
    USING unnest(:ids::bigint[], :states::smallint[], :reasons::text[]) AS o (id, state, reason)
    WHERE j.id = ANY (ARRAY[o.id])
    RETURNING o.state AS end_state, o.reason, j.*
)
, released AS (
    INSERT INTO {schema}.release (ids, schedules, ended_at, states, reasons)
    SELECT array_agg(id), array_agg(CASE WHEN origin {sets_off} THEN schedule_id END), coalesce(:now::timestamptz, now()), array_agg(end_state), array_agg(reason) FROM ended WHERE releases HAVING count(*) > 0
)
, vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM ended, unnest(permits) AS p (lane) WHERE EXISTS (SELECT FROM {schema}.job_limit) HAVING count(*) > 0
)
, events AS (
    INSERT INTO {schema}.event (at, type, subjects, reasons)
    SELECT coalesce(:now::timestamptz, now()), end_state, array_agg(id), array_agg(left(reason, 500)) FILTER (WHERE end_state <> 3)
    FROM ended WHERE EXISTS (SELECT FROM {schema}.feed WHERE one AND keep_us > 0) GROUP BY end_state
)
INSERT INTO {schema}.history (finished_at, state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec})
SELECT coalesce(:now::timestamptz, now()), end_state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec} FROM ended
RETURNING schedule_id, origin {backfill} AS backfill
