-- Makes the jobs of slots and records these as fired. One row: the jobs'
-- numbers, which are given in the order of the arrays. The wake-up, if $3 is one,
-- leaves with the commit.
WITH made AS (
    INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, headers, args)
    SELECT coalesce(new.run_at, coalesce($1::timestamptz, now()) + new.delay_us * interval '1 microsecond'),
        coalesce($1::timestamptz, now()), new.slot, new.schedule_id, new.waiting::int, new.timeout_ns, new.priority, new.max_attempts, new.on_loss,
        new.origin, new.queue, new.kind, new.headers, new.args
    FROM unnest($4::timestamptz[], $5::bigint[], $6::timestamptz[], $7::bigint[], $8::bigint[], $9::smallint[], $10::smallint[],
        $11::smallint[], $12::smallint[], $13::text[], $14::text[], $15::text[], $16::text[], $17::boolean[])
        AS new (run_at, delay_us, slot, schedule_id, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args, headers, waiting)
    RETURNING id, schedule_id, slot, created_at
), recorded AS (
    INSERT INTO {schema}.slot (recorded_at, schedule_id, slot, last, count, outcome, reason, job_id)
    SELECT created_at, schedule_id, slot, slot, 1, 0, '', id FROM made
)
SELECT array_agg(id)::text, (SELECT pg_notify($2::text, $3::text) WHERE $3::text IS NOT NULL)::text FROM made
