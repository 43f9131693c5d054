-- statement updateWaits, takes ids waits run_ats, returns queue
-- Sets for how many jobs waiting jobs, which are locked, still wait. Without any they are
-- ready. Returns the queues of the ready jobs. Without a new run_at no index of a job that still
-- waits changes.
WITH changed AS (
    UPDATE {schema}.job AS j SET waits = o.waits, run_at = o.run_at, state = (o.waits IS NOT NULL)::int
    FROM unnest(:ids::bigint[], :waits::integer[], :run_ats::timestamptz[]) AS o (id, waits, run_at)
    WHERE j.id = ANY (ARRAY[o.id])
    RETURNING j.queue, j.waits IS NULL AS ready
)
SELECT DISTINCT queue FROM changed WHERE ready
