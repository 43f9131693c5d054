-- statement updateUniqueJobs, takes newJobParams on_conflicts most untils, returns ids changed sent
-- Changes live jobs that have the keys of new jobs, except jobs that run and jobs of a batch: a job
-- becomes what the new job is (:on_conflicts is 1), unless it has begun and its key passes to the new job (:untils), or,
-- if it has not begun, is due when the new job would be due (2), by
-- the rule of store.NewJob.Meet. A job whose row another transaction has changed is
-- looked at again when that transaction has ended. Returns in one row the numbers of the
-- live jobs with the keys, in the order of the arrays (0: there is none; below 0: the job runs, and take_keys takes
-- its key as long as it does), and the numbers of the changed jobs. The rows are locked in the order of their numbers, as by lock_jobs.
-- Changed jobs give permits back by a row in vacancy; their rows are locked before, so that the permits are the present permits.
-- The wake-up, if :wake is one, leaves with the commit.
WITH new AS MATERIALIZED (
    SELECT given.*, greatest(coalesce(given.run_at, t.now + given.delay * interval '1 microsecond'), t.now) AS due, t.now,
        (SELECT l.id FROM {schema}.job AS l WHERE l.kind = given.kind AND l.unique_key = given.unique_key) AS holder,
        EXISTS (SELECT FROM {schema}.job AS l WHERE l.kind = given.kind AND l.unique_key = given.unique_key AND l.running)
            AND NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.kind = given.kind AND u.unique_key = given.unique_key AND u.until > t.now) AS runs
    FROM (SELECT coalesce(:now::timestamptz, now()) AS now) AS t CROSS JOIN unnest(:run_at::timestamptz[], :delay::bigint[], :slot::timestamptz[],
        :schedule_id::bigint[], :origin::smallint[], :waiting::boolean[], :args::text[], :headers::text[], {:spec::type[]},
        :on_conflicts::smallint[], :most::bigint[], :untils::boolean[]) WITH ORDINALITY
        AS given (run_at, delay, slot, schedule_id, origin, waiting, args, headers, {spec}, on_conflict, most, until_start, place)
), changed AS (
    UPDATE {schema}.job AS j
    SET run_at = CASE
            WHEN n.on_conflict = 2 THEN greatest(n.now, least(n.due, greatest(j.run_at, coalesce(j.created_at + n.most * interval '1 microsecond', 'infinity'))))
            WHEN (j.queue, j.priority) <> (n.queue, n.priority) THEN greatest(n.now, j.run_at)
            ELSE j.run_at END,
        args = CASE WHEN n.on_conflict = 1 THEN n.args ELSE j.args END, headers = CASE WHEN n.on_conflict = 1 THEN n.headers ELSE j.headers END,
        state = greatest(j.state, 0), lane = NULL, permits = NULL, {spec = CASE WHEN n.on_conflict = 1 THEN n.spec ELSE j.spec END}
    FROM (SELECT * FROM new ORDER BY holder OFFSET 0) AS n, (
        SELECT h.id, h.permits FROM {schema}.job AS h
        WHERE h.id = ANY (ARRAY(SELECT holder FROM new)) AND NOT h.running ORDER BY h.id FOR UPDATE) AS was
    WHERE was.id = n.holder AND j.id = ANY (ARRAY[n.holder]) AND NOT j.running AND j.batch IS NULL AND (n.on_conflict = 1 AND (NOT n.until_start
            OR j.attempt = 0 AND j.refunds = 0 AND coalesce(j.snoozes, 0) = 0
            OR EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.kind = n.kind AND u.unique_key = n.unique_key AND u.until > n.now))
        OR j.attempt = 0 AND j.refunds = 0 AND coalesce(j.snoozes, 0) = 0 AND greatest(n.now, least(n.due, greatest(j.run_at, coalesce(j.created_at + n.most * interval '1 microsecond', 'infinity')))) <> j.run_at AND (j.run_at > n.now
            OR least(n.due, greatest(j.run_at, coalesce(j.created_at + n.most * interval '1 microsecond', 'infinity'))) > n.now))
    RETURNING j.id, was.permits
), vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM changed, unnest(permits) AS p (lane) WHERE EXISTS (SELECT FROM {schema}.job_limit) HAVING count(*) > 0
)
SELECT (SELECT array_agg(CASE WHEN runs THEN -holder ELSE coalesce(holder, 0) END ORDER BY place) FROM new)::text AS ids, coalesce(array_agg(id), '{}')::text AS changed,
    (SELECT CASE :wake::text WHEN '' THEN pg_current_xact_id()::text ELSE pg_notify(:channel::text, :wake::text)::text END
        WHERE :wake::text IS NOT NULL AND EXISTS (SELECT FROM changed)) AS sent
FROM changed
