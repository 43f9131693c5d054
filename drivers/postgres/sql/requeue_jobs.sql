-- statement requeueJobs, takes now ids delays refunds counted well lost snoozed, returns queue
-- Makes running jobs, which are locked, ready again: after the delay of a retry, of a
-- snooze or of a loss, or at once after a release. A refund takes the attempt back. The jobs give their permits back by a row in
-- vacancy, except jobs of strict limits, and of no rate, that do not snooze. A lane with more permits in use than it has, because its limit
-- has begun or has become less since its jobs began, gets permits back all the same.
WITH vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane)
    FROM unnest(:ids::bigint[], :snoozed::boolean[]) AS o (id, snoozed) JOIN {schema}.job AS j ON j.id = ANY (ARRAY[o.id]), unnest(j.permits) AS p (lane)
    WHERE EXISTS (SELECT FROM {schema}.job_limit)
        AND (o.snoozed OR NOT coalesce((SELECT bool_or(t.strict) AND NOT bool_or(t.rate > 0 OR t.concurrency > 0 AND l.used > t.concurrency * coalesce((nullif(t.weights, '')::json ->> l.key)::integer, 1)) FROM {schema}.lane AS l JOIN {schema}.job_limit AS t ON t.id = l.limit_id WHERE l.id = ANY (j.permits)), false))
    HAVING count(*) > 0
)
UPDATE {schema}.job AS j
SET running = false,
    permits = CASE WHEN j.permits IS NULL OR o.snoozed THEN NULL
        WHEN (SELECT bool_or(t.strict) AND NOT bool_or(t.rate > 0 OR t.concurrency > 0 AND l.used > t.concurrency * coalesce((nullif(t.weights, '')::json ->> l.key)::integer, 1)) FROM {schema}.lane AS l JOIN {schema}.job_limit AS t ON t.id = l.limit_id WHERE l.id = ANY (j.permits)) THEN j.permits END,
    run_at = coalesce(:now::timestamptz, now()) + o.delay_us * interval '1 microsecond', attempt = j.attempt - o.refund,
    refunds = least(j.refunds + o.counted::int, 32767), losses = CASE WHEN o.well THEN 0 ELSE least(j.losses + o.lost::int, 32767) END,
    snoozes = CASE WHEN o.snoozed THEN coalesce(j.snoozes, 0) + 1 ELSE j.snoozes END
FROM unnest(:ids::bigint[], :delays::bigint[], :refunds::smallint[], :counted::boolean[], :well::boolean[], :lost::boolean[],
    :snoozed::boolean[]) AS o (id, delay_us, refund, counted, well, lost, snoozed)
WHERE j.id = ANY (ARRAY[o.id])
RETURNING j.queue
