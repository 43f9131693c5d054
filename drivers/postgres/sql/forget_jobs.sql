-- statement forgetJob, given commits, takes now ids tokens states reasons handled identity, returns ended releases
-- statement forgetJobs, given batch, takes now ids tokens states reasons handled, returns id schedule_id backfill releases
-- Ends jobs by the outcomes of their claims, as finish_jobs does, but leaves no rows of them;
-- except that a job that holds its key is kept until then, and a job with dependents that no step has linked yet until
-- they have ended, because the step has to learn how the job ended. Most jobs have no attempts, progress and
-- steps to be deleted: these tables are searched for all numbers at once.
-- What is sent and does not come back was not accepted. The variant for one job in the
-- transaction of its worker fails as in finish_jobs.
WITH followed AS MATERIALIZED (
    SELECT o.id FROM unnest(:ids::bigint[]) AS o (id)
    WHERE EXISTS (SELECT FROM {schema}.edge AS e WHERE e.on_id = ANY (ARRAY[o.id]) OFFSET 0)
), free AS (
    DELETE FROM {schema}.job AS j
    USING unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :reasons::text[]) AS o (id, token, state, reason)
    WHERE j.id = ANY (ARRAY[o.id]) AND j.token = o.token
        AND (:handled::boolean OR NOT EXISTS (SELECT FROM {schema}.handler))
        AND (:identity::text = '' OR EXISTS (SELECT FROM {schema}.timeline WHERE store = :identity::text)) -- if commits
        AND (j.unique_key IS NULL
            OR NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = j.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0))
        AND (j.releases OR j.id NOT IN (SELECT id FROM followed))
    RETURNING j.id, j.schedule_id, j.origin, j.releases, j.permits, o.state AS end_state, o.reason
), held AS (
    DELETE FROM {schema}.job AS j
    USING {schema}.key_hold AS u, unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :reasons::text[]) AS o (id, token, state, reason)
    WHERE u.job_id = ANY (:ids::bigint[]) AND u.until > coalesce(:now::timestamptz, now()) AND o.id = u.job_id
        AND j.id = ANY (ARRAY[u.job_id]) AND j.token = o.token AND j.unique_key IS NOT NULL
        AND (:handled::boolean OR NOT EXISTS (SELECT FROM {schema}.handler))
        AND (:identity::text = '' OR EXISTS (SELECT FROM {schema}.timeline WHERE store = :identity::text)) -- if commits
    RETURNING j.*, o.state AS end_state, o.reason, u.until AS keep_until
), unlinked AS (
    DELETE FROM {schema}.job AS j
    USING followed AS f, unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :reasons::text[]) AS o (id, token, state, reason)
    WHERE o.id = f.id AND j.id = ANY (ARRAY[f.id]) AND j.token = o.token AND NOT j.releases
        AND (:handled::boolean OR NOT EXISTS (SELECT FROM {schema}.handler))
        AND (:identity::text = '' OR EXISTS (SELECT FROM {schema}.timeline WHERE store = :identity::text)) -- if commits
        AND (j.unique_key IS NULL
            OR NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = j.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0))
    RETURNING j.*, o.state AS end_state, o.reason, coalesce(:now::timestamptz, now()) AS keep_until
), kept AS (
    INSERT INTO {schema}.history (keep_until, noted, finished_at, state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec})
    SELECT keep_until, true, coalesce(:now::timestamptz, now()), end_state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases OR id IN (SELECT id FROM followed), {spec}
    FROM (SELECT * FROM held UNION ALL SELECT * FROM unlinked) AS k
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id = ANY (:ids::bigint[]) AND job_id + 0 = ANY (ARRAY(SELECT id FROM free))
), progress AS (
    DELETE FROM {schema}.progress WHERE job_id = ANY (:ids::bigint[]) AND job_id + 0 = ANY (ARRAY(SELECT id FROM free))
), steps AS (
    DELETE FROM {schema}.step WHERE job_id = ANY (:ids::bigint[]) AND job_id + 0 = ANY (ARRAY(SELECT id FROM free))
), ended AS (
    SELECT id, schedule_id, origin, releases, permits, end_state, reason FROM free
    UNION ALL SELECT id, schedule_id, origin, releases, permits, end_state, reason FROM held
    UNION ALL SELECT id, schedule_id, origin, releases, permits, end_state, reason FROM unlinked
), released AS (
    INSERT INTO {schema}.release (ids, schedules, ended_at, states, reasons)
    SELECT array_agg(id), array_agg(CASE WHEN origin {sets_off} THEN schedule_id END),
        coalesce(:now::timestamptz, now()),                                                      -- if batch
        coalesce(:now::timestamptz, statement_timestamp()),                                      -- if commits
        array_agg(end_state), array_agg(''::text) FROM ended WHERE releases HAVING count(*) > 0
), vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM ended, unnest(permits) AS p (lane) WHERE EXISTS (SELECT FROM {schema}.job_limit) HAVING count(*) > 0
), events AS (
    INSERT INTO {schema}.event (at, type, subjects, reasons)
    SELECT
        coalesce(:now::timestamptz, now()),                                                      -- if batch
        coalesce(:now::timestamptz, statement_timestamp()),                                      -- if commits
        end_state, array_agg(id), array_agg(left(reason, 500)) FILTER (WHERE end_state <> 3)
    FROM ended WHERE EXISTS (SELECT FROM {schema}.feed WHERE one AND keep_us > 0) GROUP BY end_state
), edges AS (
    DELETE FROM {schema}.edge WHERE job_id = ANY (:ids::bigint[]) AND job_id + 0 = ANY (ARRAY(SELECT id FROM free))
)
SELECT id, schedule_id, origin {backfill} AS backfill, releases FROM ended                            -- if batch
SELECT 1 / count(*) AS ended, coalesce(bool_or(releases), false) AS releases FROM ended         -- if commits
