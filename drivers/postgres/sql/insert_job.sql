-- Inserts one job and returns its number. The wake-up, if :wake is one, leaves with
-- the commit. With a key, :unique, there is no row if one of its kind with that key
-- lives; transactions that insert the same are waited for.
INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, headers, args
    , unique_key                                                                                            -- if unique
)
VALUES (coalesce(:run_at::timestamptz, coalesce(:now::timestamptz, now()) + :delay::bigint * interval '1 microsecond'),
    coalesce(:now::timestamptz, now()), :slot::timestamptz, :schedule_id::bigint, :waiting::boolean::int, :timeout::bigint, :priority::smallint, :max_attempts::smallint, :on_loss::smallint,
    :origin::smallint, :queue::text, :kind::text, :headers::text, :args::text
    , :unique::text                                                                                             -- if unique
)
ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING                                      -- if unique
RETURNING id::text AS ids, (SELECT pg_notify(:channel::text, :wake::text) WHERE :wake::text IS NOT NULL)::text AS sent
