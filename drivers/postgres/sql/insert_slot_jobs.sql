-- Makes the jobs of slots and records these as fired. One row: the jobs'
-- numbers, which are given in the order of the arrays. The wake-up, if :wake is one,
-- leaves with the commit.
WITH made AS (
    INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, headers, args)
    SELECT coalesce(new.run_at, coalesce(:now::timestamptz, now()) + new.delay_us * interval '1 microsecond'),
        coalesce(:now::timestamptz, now()), new.slot, new.schedule_id, new.waiting::int, new.timeout_ns, new.priority, new.max_attempts, new.on_loss,
        new.origin, new.queue, new.kind, new.headers, new.args
    FROM unnest(:run_ats::timestamptz[], :delays::bigint[], :slots::timestamptz[], :schedule_ids::bigint[], :timeouts::bigint[], :priorities::smallint[], :max_attempts::smallint[],
        :on_losses::smallint[], :origins::smallint[], :queues::text[], :kinds::text[], :args::text[], :headers::text[], :waiting::boolean[])
        AS new (run_at, delay_us, slot, schedule_id, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args, headers, waiting)
    RETURNING id, schedule_id, slot, created_at
), recorded AS (
    INSERT INTO {schema}.slot (recorded_at, schedule_id, slot, last, count, outcome, reason, job_id)
    SELECT created_at, schedule_id, slot, slot, 1, 0, '', id FROM made
)
SELECT array_agg(id)::text AS ids, (SELECT pg_notify(:channel::text, :wake::text) WHERE :wake::text IS NOT NULL)::text AS sent FROM made
