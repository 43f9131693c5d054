-- statement insertJobs, takes newJobParams, returns ids sent
-- statement insertLinkedJobs, given linked, takes newJobParams linkedParams, returns ids sent
-- statement insertSlotJobs, given slots, takes newJobParams, returns ids sent
-- Inserts jobs of any sort. One row: the numbers, which are given in the order
-- of the arrays. The wake-up, if :wake is one, leaves with the commit. The jobs of slots
-- are also recorded: their slots have fired. Jobs that wait for jobs, and jobs for which
-- jobs of the same insert wait, are linked.
WITH inserted AS (
    INSERT INTO {schema}.job (
        waits, releases,                                                                                    -- if linked
        run_at, created_at, slot, schedule_id, state, origin, args, headers, {spec})
    SELECT
        new.waits, new.releases,                                                                            -- if linked
        coalesce(new.run_at, coalesce(:now::timestamptz, now()) + new.delay * interval '1 microsecond'),
        coalesce(:now::timestamptz, now()), new.slot, new.schedule_id, new.waiting::int, new.origin, new.args, new.headers, {new.spec}
    FROM unnest(:run_at::timestamptz[], :delay::bigint[], :slot::timestamptz[], :schedule_id::bigint[], :origin::smallint[],
        :waiting::boolean[], :args::text[], :headers::text[], {:spec::type[]}
        , :waits::integer[], :releases::boolean[]                                                           -- if linked
        ) AS new (run_at, delay, slot, schedule_id, origin, waiting, args, headers, {spec}
        , waits, releases                                                                                   -- if linked
        )
    RETURNING id, schedule_id, slot, created_at
), recorded AS (                                                                                            -- if slots
    INSERT INTO {schema}.slot (recorded_at, schedule_id, slot, last, count, outcome, reason, job_id)        -- if slots
    SELECT created_at, schedule_id, slot, slot, 1, 0, '', id FROM inserted                                  -- if slots
)
SELECT array_agg(id)::text AS ids, (SELECT CASE :wake::text WHEN '' THEN pg_current_xact_id()::text ELSE pg_notify(:channel::text, :wake::text)::text END
    WHERE :wake::text IS NOT NULL) AS sent FROM inserted
