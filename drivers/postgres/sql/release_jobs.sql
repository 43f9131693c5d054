-- statement releaseJobs, takes ids, returns queue
-- Makes waiting jobs, which are locked, ready if their serial group is free.
UPDATE {schema}.job AS w SET state = 0
WHERE w.id = ANY (:ids::bigint[]) AND w.state + 0 = 1 AND NOT EXISTS (
    SELECT FROM {schema}.job AS j WHERE j.schedule_id = w.schedule_id AND j.state + 0 <= 0 AND (j.origin {backfill}) = (w.origin {backfill}) OFFSET 0)
RETURNING w.queue
