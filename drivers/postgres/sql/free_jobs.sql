-- Makes running jobs, which are locked, ready again: by a retry after a delay,
-- by a release or for a lost node at once. A refund takes the attempt back.
UPDATE {schema}.job AS j
SET running = false, run_at = coalesce($1::timestamptz, now()) + o.delay_us * interval '1 microsecond', attempt = j.attempt - o.refund
FROM unnest($2::bigint[], $3::bigint[], $4::smallint[]) AS o (id, delay_us, refund)
WHERE j.id = ANY (ARRAY[o.id])
RETURNING j.queue
