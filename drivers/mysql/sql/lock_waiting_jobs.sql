-- Locks the job that waits first in each serial group (a schedule's backfilled jobs, or its other
-- jobs). A transaction that ends or adds jobs of a serial group looks whether the group is
-- busy only while it has this lock, so that the last of two concurrent transactions
-- finds the group free. The subquery waits for a row that is locked, and goes on to the next if
-- that row waits no more.
SELECT o.place - 1 AS place,
       coalesce((SELECT f.id FROM hourbell_job AS f FORCE INDEX (hourbell_job_schedule)
         WHERE f.schedule_id = o.schedule AND f.state = 1 AND (f.origin {backfill}) = o.backfill
         ORDER BY f.slot, f.id LIMIT 1 FOR UPDATE), 0) AS id
FROM JSON_TABLE(:groups, '$[*]' COLUMNS (place FOR ORDINALITY, schedule BIGINT PATH '$.schedule', backfill TINYINT PATH '$.backfill')) AS o
