-- Makes running jobs, which are locked, ready again: by a retry after a delay,
-- by a release or for a lost node at once. A refund takes the attempt back.
UPDATE {schema}.job AS j
SET running = false, run_at = coalesce($1::timestamptz, now()) + o.delay_us * interval '1 microsecond', attempt = j.attempt - o.refund,
    refunds = least(j.refunds + o.counted::int, 32767), losses = CASE WHEN o.well THEN 0 ELSE least(j.losses + o.lost::int, 32767) END
FROM unnest($2::bigint[], $3::bigint[], $4::smallint[], $5::boolean[], $6::boolean[], $7::boolean[]) AS o (id, delay_us, refund, counted, well, lost)
WHERE j.id = ANY (ARRAY[o.id])
RETURNING j.queue
