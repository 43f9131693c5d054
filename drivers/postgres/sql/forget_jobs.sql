-- Ends jobs by the outcomes of their claims, as finish_jobs does, but leaves no row of them;
-- except that a job that holds its key is kept until then.
-- What is sent and does not come back was not accepted.
WITH ended AS (
    DELETE FROM {schema}.job AS j
    USING unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :reasons::text[]) AS o (id, token, state, reason)
    WHERE j.id = ANY (ARRAY[o.id]) AND j.token = o.token
    RETURNING j.*, o.state AS end_state, o.reason, CASE WHEN j.unique_key IS NOT NULL THEN (
        SELECT u.until FROM {schema}.key_hold AS u WHERE u.job_id = j.id AND u.until > coalesce(:now::timestamptz, now()) LIMIT 1) END AS keep_until
), held AS (
    INSERT INTO {schema}.history (keep_until, noted, finished_at, state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, {spec})
    SELECT keep_until, true, coalesce(:now::timestamptz, now()), end_state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, {spec}
    FROM ended WHERE keep_until IS NOT NULL
), attempts AS (
    DELETE FROM {schema}.attempt AS a USING ended WHERE ended.keep_until IS NULL AND a.job_id = ANY (ARRAY[ended.id])
)
SELECT id, schedule_id, origin = 3 AS backfill FROM ended
