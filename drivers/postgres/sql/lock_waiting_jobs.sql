-- statement lockWaitingJobs, takes schedules backfills, returns id schedule_id backfill
-- Locks the job that waits first in each serial group (a schedule's backfilled jobs, or
-- its other jobs). A transaction that ends or adds jobs of a serial group checks whether
-- the group is free only while it holds this lock, so that the last of two concurrent
-- transactions finds it free.
SELECT w.id, w.schedule_id, w.origin {backfill} AS backfill
FROM unnest(:schedules::bigint[], :backfills::boolean[]) AS serial_group (schedule_id, backfill), LATERAL (
    SELECT j.id, j.schedule_id, j.origin FROM {schema}.job AS j
    WHERE j.state = 1 AND j.schedule_id = serial_group.schedule_id AND (j.origin {backfill}) = serial_group.backfill
    ORDER BY j.slot, j.id LIMIT 1 FOR UPDATE
) AS w
