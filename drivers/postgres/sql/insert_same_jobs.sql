-- Inserts jobs that differ in their args only. One row: the numbers, ascending
-- in the order of $15. The wake-up leaves with the commit.
WITH inserted AS (
    INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, headers, args)
    SELECT coalesce($4::timestamptz, coalesce($1::timestamptz, now()) + $5::bigint * interval '1 microsecond'),
        coalesce($1::timestamptz, now()), $6::timestamptz, $7::bigint, $17::boolean::int, $8::bigint, $9::smallint, $10::smallint, $11::smallint,
        $12::smallint, $13::text, $14::text, $16::text, new.args
    FROM unnest($15::text[]) AS new (args)
    RETURNING id
)
SELECT array_agg(id ORDER BY id)::text, (SELECT pg_notify($2::text, $3::text))::text FROM inserted
