-- statement lockWaitingJobs, returns place id
-- Locks the job that waits first in each serial group (a schedule's backfilled jobs, or its other
-- jobs). A transaction that ends or adds jobs of a serial group looks whether the group is
-- busy only while it has this lock, so that the last of two concurrent transactions
-- finds the group free. The subquery waits for a row that is locked, and goes on to the next if
-- that row waits no more.
SELECT o.place - 1 AS place,
       coalesce((SELECT f.id FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_schedule)
         STRAIGHT_JOIN hourbell_job AS f FORCE INDEX (PRIMARY) ON f.id = r.job_id
         WHERE r.schedule_id = o.schedule AND r.state = 1 AND (f.origin {backfill}) = o.backfill
         ORDER BY r.slot, r.job_id LIMIT 1 FOR UPDATE), 0) AS id
FROM JSON_TABLE(:groups, '$[*]' COLUMNS (place FOR ORDINALITY, schedule BIGINT PATH '$.schedule', backfill TINYINT PATH '$.backfill')) AS o
