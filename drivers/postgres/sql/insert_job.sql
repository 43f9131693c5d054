-- Inserts one job and returns its number. The wake-up, if $3 is one, leaves with
-- the commit. With a key, $18, there is no row if one of its kind with that key
-- lives; transactions that insert the same are waited for.
INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, headers, args
    , unique_key                                                                                            -- if unique
)
VALUES (coalesce($4::timestamptz, coalesce($1::timestamptz, now()) + $5::bigint * interval '1 microsecond'),
    coalesce($1::timestamptz, now()), $6::timestamptz, $7::bigint, $17::boolean::int, $8::bigint, $9::smallint, $10::smallint, $11::smallint,
    $12::smallint, $13::text, $14::text, $16::text, $15::text
    , $18::text                                                                                             -- if unique
)
ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING                                      -- if unique
RETURNING id::text, (SELECT pg_notify($2::text, $3::text) WHERE $3::text IS NOT NULL)::text
