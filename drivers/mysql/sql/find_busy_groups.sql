-- statement findBusyGroups, returns place
-- The serial groups that have a ready or running job.
SELECT o.place - 1 AS place
FROM JSON_TABLE(:groups, '$[*]' COLUMNS (place FOR ORDINALITY, schedule BIGINT PATH '$.schedule', backfill TINYINT PATH '$.backfill')) AS o
WHERE EXISTS (SELECT 1 FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_schedule)
  STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = r.job_id
  WHERE r.schedule_id = o.schedule AND r.state <> 1 AND (j.origin {backfill}) = o.backfill {share})
