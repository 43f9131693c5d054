-- statement LockLiveJobs, returns LiveColumns
-- The live jobs of schedules, without backfilled jobs.
SELECT j.schedule_id, j.id, j.slot, j.state = 2 AS running, j.state = 1 AS waiting, j.attempt, j.snoozes IS NOT NULL AS snoozed, j.origin,
       coalesce(j.slot, j.run_at) <= :now AS due, iif(j.run_at > :now, j.run_at, NULL) AS starts_at, j.lane IS NOT NULL AS limited, j.queue, j.kind, j.group_name, j.job_key
FROM json_each(:ids) AS o
CROSS JOIN hourbell_job AS j ON j.schedule_id = o.value AND j.origin NOT {backfill}
ORDER BY o.key, j.id
