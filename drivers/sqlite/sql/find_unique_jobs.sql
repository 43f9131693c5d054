-- statement findUniqueJobs, returns place id live begun running in_batch holds queue priority run_at created_at
-- The jobs that have some kinds and keys, each with the place of its key: live jobs, and
-- jobs that hold a key after their end.
SELECT o.key AS place, j.id, true AS live, j.state = 2 OR j.attempt > 0 OR j.refunds > 0 OR coalesce(j.snoozes, 0) > 0 AS begun, j.state = 2 AS running,
       j.batch IS NOT NULL AS in_batch,
       EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.kind = j.kind AND u.unique_key = j.unique_key AND u.until > :now) AS holds,
       j.queue, j.priority, j.run_at, j.created_at
FROM jsonb_each(:keys) AS o
CROSS JOIN hourbell_job AS j ON j.kind = o.value ->> 'Kind' AND j.unique_key = o.value ->> 'Unique'
UNION ALL
SELECT o.key, u.job_id, false, false, false, false, true, '', 0, NULL, NULL
FROM jsonb_each(:keys) AS o
CROSS JOIN hourbell_key_hold AS u ON u.kind = o.value ->> 'Kind' AND u.unique_key = o.value ->> 'Unique'
WHERE u.until > :now AND NOT EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.kind = u.kind AND j.unique_key = u.unique_key)
