-- statement insertJob, given plain, takes newJobParams, returns ids sent
-- statement insertUniqueJob, given unique, takes newJobParams, returns ids sent
-- Inserts one job and returns its number. The wake-up, if :wake is one, leaves with
-- the commit. With a key there is no row if a job of its kind with that key lives, or
-- is inserted by a transaction that was waited for, or if a job holds the key after its
-- end.
INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, origin, args, headers, {spec})
VALUES (                                                                                                    -- if plain
SELECT                                                                                                      -- if unique
    coalesce(:run_at::timestamptz, coalesce(:now::timestamptz, now()) + :delay::bigint * interval '1 microsecond'),
    coalesce(:now::timestamptz, now()), :slot::timestamptz, :schedule_id::bigint, :waiting::boolean::int, :origin::smallint,
    :args::text, :headers::text, {:spec::type}
)                                                                                                           -- if plain
WHERE coalesce((SELECT u.until FROM {schema}.key_hold AS u WHERE u.kind = :kind::text AND u.unique_key = :unique_key::text), '-infinity') -- if unique
    <= coalesce(:now::timestamptz, now())                                                                   -- if unique
ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING                                      -- if unique
RETURNING id::text AS ids, (SELECT CASE :wake::text WHEN '' THEN pg_current_xact_id()::text ELSE pg_notify(:channel::text, :wake::text)::text END
    WHERE :wake::text IS NOT NULL) AS sent
