-- Ends jobs by the outcomes of their claims, as finish_jobs does, but leaves no rows of them;
-- except that a job that holds its key is kept until then.
-- What is sent and does not come back was not accepted. The variant for one job in the
-- transaction of its worker fails as that of finish_jobs does.
WITH ended AS (
    DELETE FROM {schema}.job AS j
    USING unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :reasons::text[]) AS o (id, token, state, reason)
    WHERE j.id = ANY (ARRAY[o.id]) AND j.token = o.token
        AND (:identity::text = '' OR EXISTS (SELECT FROM {schema}.timeline WHERE store = :identity::text)) -- if commits
    RETURNING j.*, o.state AS end_state, o.reason, CASE WHEN j.unique_key IS NOT NULL THEN (
        SELECT u.until FROM {schema}.key_hold AS u WHERE u.job_id = j.id AND u.until > coalesce(:now::timestamptz, now()) LIMIT 1) END AS keep_until
), held AS (
    INSERT INTO {schema}.history (keep_until, noted, finished_at, state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, {spec})
    SELECT keep_until, true, coalesce(:now::timestamptz, now()), end_state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, {spec}
    FROM ended WHERE keep_until IS NOT NULL
), attempts AS (
    DELETE FROM {schema}.attempt AS a USING ended WHERE ended.keep_until IS NULL AND a.job_id = ANY (ARRAY[ended.id])
), progress AS (
    DELETE FROM {schema}.progress AS p USING ended WHERE ended.keep_until IS NULL AND p.job_id = ANY (ARRAY[ended.id])
)
SELECT id, schedule_id, origin = 3 AS backfill FROM ended -- if batch
SELECT 1 / count(*) AS ended FROM ended                   -- if commits
