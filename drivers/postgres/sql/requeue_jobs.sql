-- Makes running jobs, which are locked, ready again: after the delay of a retry, of a
-- snooze or of a loss, or at once after a release. A refund takes the attempt back.
UPDATE {schema}.job AS j
SET running = false, run_at = coalesce(:now::timestamptz, now()) + o.delay_us * interval '1 microsecond', attempt = j.attempt - o.refund,
    refunds = least(j.refunds + o.counted::int, 32767), losses = CASE WHEN o.well THEN 0 ELSE least(j.losses + o.lost::int, 32767) END,
    snoozes = CASE WHEN o.snoozed THEN coalesce(j.snoozes, 0) + 1 ELSE j.snoozes END
FROM unnest(:ids::bigint[], :delays::bigint[], :refunds::smallint[], :counted::boolean[], :well::boolean[], :lost::boolean[],
    :snoozed::boolean[]) AS o (id, delay_us, refund, counted, well, lost, snoozed)
WHERE j.id = ANY (ARRAY[o.id])
RETURNING j.queue
