-- statement countBatchJobs, given numbers open count batch, takes jobFilterParams jobRangeParams, returns count
-- statement countJobs, given numbers open count, takes jobFilterParams jobRangeParams, returns count
-- statement listBatchJobs, given page open newest batch, takes jobFilterParams jobRangeParams jobPageParams, returns jobColumns
-- statement listBatchOldestFirst, given page open oldest batch, takes jobFilterParams jobRangeParams jobPageParams, returns jobColumns
-- statement listJobs, given page open newest, takes jobFilterParams jobRangeParams jobPageParams, returns jobColumns
-- statement listJobsOldestFirst, given page open oldest, takes jobFilterParams jobRangeParams jobPageParams, returns jobColumns
-- statement matchJobs, given numbers match, takes jobFilterParams, returns id
-- Jobs, alive and finished, that match a filter: a page of them in the order of their
-- numbers, how many there are, or which jobs out of a list match. A condition that is null
-- does not count. :live and :finished: whether live and finished jobs can match at all.
-- :only_running: only running jobs are asked for, so look only where claims say they may be.
-- :scheduled, :retrying, :parked: also scheduled, retrying and parked jobs, by the rule of store.JobInfo.
WITH found AS (
    (SELECT id                                                                                                           -- if numbers
    (SELECT id, token, CASE WHEN running THEN 2 ELSE greatest(state, 0) END AS state, args, headers, attempt, origin, run_at, -- if page
        created_at, started_at, NULL::timestamptz AS finished_at, node, schedule_id, slot, '' AS reason, losses,         -- if page
        snoozes, NULL AS result, {spec}                                                                                  -- if page
    FROM {schema}.job AS j
    WHERE :live::boolean
        AND (:ids::bigint[] IS NULL OR id = ANY (:ids))                                                                  -- if open
        AND id = ANY (:ids::bigint[])                                                                                    -- if match
        AND (:states::smallint[] IS NULL OR CASE WHEN running THEN 2 ELSE state END = ANY (:states)
            OR state <= 0 AND NOT running AND attempt = 0 AND :scheduled::boolean AND run_at > coalesce(:now::timestamptz, now())
                AND NOT {waits(j.id, j.snoozes)}
            OR state <= 0 AND NOT running AND attempt > 0 AND :retrying::boolean AND NOT {waits(j.id, j.snoozes)}
            OR state <= 0 AND NOT running AND :parked::boolean AND {waits(j.id, j.snoozes)})
        AND (:queue::text IS NULL OR queue = :queue)
        AND (:kind::text IS NULL OR kind = :kind)
        AND (:schedule::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = :schedule))
        AND (:hosts_of::text IS NULL OR {is_or_is_made_from(schedule_id, :hosts_of)})
        AND (:group_name::text IS NULL OR group_name = :group_name)
        AND (:job_key::text IS NULL OR job_key = :job_key)
        AND (:unique_key::text IS NULL OR unique_key = :unique_key)
        AND (:batch::bigint IS NULL OR batch = :batch)
        AND batch = :batch::bigint                                                                                       -- if batch
        AND (NOT :not_last::boolean OR NOT EXISTS (SELECT FROM {schema}.batch AS b WHERE b.id = j.batch AND b.finally_id = j.id))
        AND (:args_text::text IS NULL OR strpos(args, :args_text) > 0)
        AND (:created_since::timestamptz IS NULL OR created_at >= :created_since)
        AND (:created_until::timestamptz IS NULL OR created_at < :created_until)
        AND (:error::text IS NULL OR id = ANY (ARRAY({with_error(:error, :after_id, :before)})))                             -- if open
        AND (:error::text IS NULL OR {has_error(j.id, :error)})                                                           -- if match
        AND (:only_running::boolean IS NOT TRUE OR id = ANY (ARRAY(SELECT unnest(ids) FROM {schema}.lease)))
        AND (:after_id::bigint IS NULL OR id > :after_id)                                                                -- if open
        AND (:before::bigint IS NULL OR id < :before)                                                                    -- if open
    ORDER BY id DESC LIMIT :limit::bigint                                                                                -- if newest
    ORDER BY id LIMIT :limit::bigint                                                                                     -- if oldest
    )
    UNION ALL
    (SELECT id                                                                                                           -- if numbers
    (SELECT id, token, state, args, headers, attempt, origin, run_at, created_at, started_at, finished_at, node,         -- if page
        schedule_id, slot, reason, losses,                                                                               -- if page
        snoozes, result, {spec}                                                                                          -- if page
    FROM {schema}.history AS h
    WHERE :finished::boolean
        AND (:ids::bigint[] IS NULL OR id = ANY (:ids))                                                                  -- if open
        AND id = ANY (:ids::bigint[])                                                                                    -- if match
        AND (:states::smallint[] IS NULL OR state = ANY (:states))
        AND (:queue::text IS NULL OR queue = :queue)
        AND (:kind::text IS NULL OR kind = :kind)
        AND (:schedule::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = :schedule))
        AND (:hosts_of::text IS NULL OR {is_or_is_made_from(schedule_id, :hosts_of)})
        AND (:group_name::text IS NULL OR group_name = :group_name)
        AND (:job_key::text IS NULL OR job_key = :job_key)
        AND (:unique_key::text IS NULL OR unique_key = :unique_key)
        AND (:batch::bigint IS NULL OR batch = :batch)
        AND batch = :batch::bigint                                                                                       -- if batch
        AND (NOT :not_last::boolean OR NOT EXISTS (SELECT FROM {schema}.batch AS b WHERE b.id = h.batch AND b.finally_id = h.id))
        AND (:args_text::text IS NULL OR strpos(args, :args_text) > 0)
        AND (:created_since::timestamptz IS NULL OR created_at >= :created_since)
        AND (:created_until::timestamptz IS NULL OR created_at < :created_until)
        AND (:finished_since::timestamptz IS NULL OR finished_at >= :finished_since)
        AND (:finished_until::timestamptz IS NULL OR finished_at < :finished_until)
        AND (:error::text IS NULL OR id = ANY (ARRAY({with_error(:error, :after_id, :before)}                                -- if open
            UNION ALL SELECT f.id FROM {schema}.history AS f WHERE f.state >= 4 AND strpos(f.reason, :error) > 0              -- if open
                AND (:after_id::bigint IS NULL OR f.id > :after_id) AND (:before::bigint IS NULL OR f.id < :before))))        -- if open
        AND (:error::text IS NULL OR strpos(reason, :error) > 0 OR {has_error(h.id, :error)})                             -- if match
        AND (:after_id::bigint IS NULL OR id > :after_id)                                                                -- if open
        AND (:before::bigint IS NULL OR id < :before)                                                                    -- if open
    ORDER BY id DESC LIMIT :limit::bigint                                                                                -- if newest
    ORDER BY id LIMIT :limit::bigint                                                                                     -- if oldest
    )
    ORDER BY id DESC LIMIT :limit::bigint                                                                                -- if newest
    ORDER BY id LIMIT :limit::bigint                                                                                     -- if oldest
)
SELECT count(*) FROM found                                                                                               -- if count
SELECT id FROM found                                                                                                     -- if match
SELECT f.id, f.token, f.state, CASE WHEN :full::boolean THEN f.args END AS args,                                         -- if page
    CASE WHEN :full::boolean THEN f.headers END AS headers, f.attempt, f.origin, f.run_at, f.created_at, f.started_at,   -- if page
    f.finished_at, n.name AS node, f.schedule_id, s.name AS schedule_name, f.slot,                                       -- if page
    f.state = 2 AND EXISTS (SELECT FROM {schema}.cancel_request AS c WHERE c.job_id = f.id) AS cancel_asked, f.reason,   -- if page
    f.losses, coalesce(f.snoozes, 0) AS snoozes, f.state = 0 AND {waits(f.id, f.snoozes)} AS parked,                     -- if page
    CASE WHEN :full::boolean THEN f.result END AS result, {f.spec}                                                       -- if page
FROM found AS f LEFT JOIN {schema}.node AS n ON n.id = f.node LEFT JOIN {schema}.schedule AS s ON s.id = f.schedule_id   -- if page
ORDER BY f.id DESC                                                                                                       -- if newest
ORDER BY f.id                                                                                                            -- if oldest
