-- statement insertSameJobs, takes newJobParams, returns ids sent
-- Inserts jobs that differ in their args only. One row: the numbers, which
-- are given in the order of :args. The wake-up, if :wake is one, leaves with the commit.
WITH inserted AS (
    INSERT INTO {schema}.job (run_at, created_at, slot, schedule_id, state, origin, args, headers, {spec})
    SELECT coalesce(:run_at::timestamptz, coalesce(:now::timestamptz, now()) + :delay::bigint * interval '1 microsecond'),
        coalesce(:now::timestamptz, now()), :slot::timestamptz, :schedule_id::bigint, :waiting::boolean::int, :origin::smallint,
        new.args, :headers::text, {:spec::type}
    FROM unnest(:args::text[]) AS new (args)
    RETURNING id
)
SELECT array_agg(id)::text AS ids, (SELECT CASE :wake::text WHEN '' THEN pg_current_xact_id()::text ELSE pg_notify(:channel::text, :wake::text)::text END
    WHERE :wake::text IS NOT NULL) AS sent FROM inserted
