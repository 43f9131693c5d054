-- statement insertKeyedJobs, takes newJobParams ids, returns ids inserted sent
-- statement insertKeyedLinkedJobs, given linked, takes newJobParams linkedParams ids, returns ids inserted sent
-- Inserts jobs, some with keys, except jobs whose key a job of their kind has, or holds
-- after its end, and returns in one row the numbers of all jobs, in the order of the arrays, and the
-- numbers of the inserted jobs, in no order. A job gets its number from :ids or, if that
-- is null, in the order of the arrays. The jobs are inserted in the order of their keys,
-- because the insert of a key waits for transactions that have inserted the same key: in
-- one order, two statements never wait for each other. The wake-up, if :wake is one,
-- leaves with the commit. Linked jobs are as in insert_jobs.
WITH new AS MATERIALIZED (
    SELECT coalesce(given.number, nextval('{schema_text}.job_id_seq')) AS id, given.*
    FROM unnest(:ids::bigint[], :run_at::timestamptz[], :delay::bigint[], :slot::timestamptz[], :schedule_id::bigint[], :origin::smallint[],
        :waiting::boolean[], :args::text[], :headers::text[], {:spec::type[]}
        , :waits::integer[], :releases::boolean[]                                                           -- if linked
        ) WITH ORDINALITY AS given (number, run_at, delay, slot, schedule_id, origin, waiting, args, headers, {spec}
        , waits, releases                                                                                   -- if linked
        , place)
), inserted AS (
    INSERT INTO {schema}.job (
        waits, releases,                                                                                    -- if linked
        id, run_at, created_at, slot, schedule_id, state, origin, args, headers, {spec})
    SELECT
        waits, releases,                                                                                    -- if linked
        id, coalesce(run_at, coalesce(:now::timestamptz, now()) + delay * interval '1 microsecond'), coalesce(:now::timestamptz, now()),
        slot, schedule_id, waiting::int, origin, args, headers, {spec}
    FROM new
    WHERE unique_key IS NULL OR coalesce((SELECT u.until FROM {schema}.key_hold AS u WHERE u.kind = new.kind AND u.unique_key = new.unique_key), '-infinity')
        <= coalesce(:now::timestamptz, now())
    ORDER BY kind COLLATE "C", unique_key COLLATE "C"
    ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING
    RETURNING id
)
SELECT (SELECT array_agg(id ORDER BY place)::text FROM new) AS ids, coalesce(array_agg(id), '{}')::text AS inserted,
    (SELECT CASE :wake::text WHEN '' THEN pg_current_xact_id()::text ELSE pg_notify(:channel::text, :wake::text)::text END
        WHERE :wake::text IS NOT NULL AND EXISTS (SELECT FROM inserted)) AS sent
FROM inserted
