-- statement completeJob, given commits results, takes now ids tokens states reasons handled noted results identity, returns ended releases
-- statement completeKeptJob, given commits results kept, takes now ids tokens states reasons handled noted results keeps identity, returns ended releases
-- statement finishJobs, given batch, takes now ids tokens states reasons handled noted, returns id schedule_id backfill releases
-- statement finishJobsWithResults, given batch results, takes now ids tokens states reasons handled noted results, returns id schedule_id backfill releases
-- statement finishKeptJobs, given batch results kept, takes now ids tokens states reasons handled noted results keeps, returns id schedule_id backfill releases
-- Moves jobs to history by the outcomes of their claims. The outcome of a job that
-- the statement does not return was not accepted. :noted is true if insert_history_batches
-- records the ends of the jobs next; it is also true for jobs that are kept for a time of
-- their own, which no batch records. An empty result means that there is no result.
-- If there are handlers, nothing ends unless :handled, because the caller then makes their jobs
-- in the same transaction.
-- The ends of jobs that have dependents leave a row in release, and all ends leave rows in
-- event. A completed job has no reason. Permits that the jobs hold are given back by a row in vacancy.
-- The variant for one job in the transaction of its worker fails with a division by zero
-- if the claim was lost or the database is not :identity. Then the server executes nothing
-- that follows in the same message, and the transaction cannot be committed. The job ends
-- now and not when the worker began its transaction, because delays of dependents count
-- from the end.
WITH ended AS (
    DELETE FROM {schema}.job AS j
    USING unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :reasons::text[]
        , :results::text[]                                                                       -- if results
        , :keeps::bigint[]                                                                       -- if kept
        ) AS o (id, token, state, reason
        , result                                                                                 -- if results
        , keep                                                                                   -- if kept
        )
    WHERE j.id = ANY (ARRAY[o.id]) AND j.token = o.token
        AND (:handled::boolean OR NOT EXISTS (SELECT FROM {schema}.handler))
        AND (:identity::text = '' OR EXISTS (SELECT FROM {schema}.timeline WHERE store = :identity::text)) -- if commits
    RETURNING o.state AS end_state, o.reason
        , coalesce(:now::timestamptz, now()) AS ended_at                                         -- if batch
        , coalesce(:now::timestamptz, statement_timestamp()) AS ended_at                         -- if commits
        , j.*
        , o.result                                                                               -- if results
        , o.keep                                                                                 -- if kept
)
, released AS (
    INSERT INTO {schema}.release (ids, schedules, ended_at, states, reasons)
    SELECT array_agg(id), array_agg(CASE WHEN origin {sets_off} THEN schedule_id END), min(ended_at), array_agg(end_state), array_agg(reason) FROM ended WHERE releases HAVING count(*) > 0
)
, vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM ended, unnest(permits) AS p (lane) WHERE EXISTS (SELECT FROM {schema}.job_limit) HAVING count(*) > 0
)
, events AS (
    INSERT INTO {schema}.event (at, type, subjects, reasons)
    SELECT min(ended_at), end_state, array_agg(id), array_agg(left(reason, 500)) FILTER (WHERE end_state <> 3)
    FROM ended WHERE EXISTS (SELECT FROM {schema}.feed WHERE one AND keep_us > 0) GROUP BY end_state
)
, moved AS (                                                                                     -- if commits
INSERT INTO {schema}.history (
    result,                                                                                      -- if results
    keep_until,                                                                                  -- if kept
    noted, finished_at, state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec})
SELECT
    nullif(result, ''),                                                                          -- if results
    ended_at + keep * interval '1 microsecond',                                                  -- if kept
    :noted::boolean, ended_at, end_state, reason, attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, {spec} FROM ended
RETURNING id, schedule_id, origin {backfill} AS backfill, releases
)                                                                                                -- if commits
SELECT 1 / count(*) AS ended, coalesce(bool_or(releases), false) AS releases FROM moved           -- if commits
