-- statement lockLiveJobs, takes now schedules, returns id schedule_id slot running waiting attempt snoozed origin node due starts_at limited queue kind group_name job_key
-- Locks the live jobs of schedules, without backfilled jobs, in the order of their
-- numbers.
SELECT id, schedule_id, slot, running, state = 1 AS waiting, attempt, snoozes IS NOT NULL AS snoozed, origin, node,
    coalesce(slot, run_at) <= coalesce(:now::timestamptz, now()) AS due, CASE WHEN run_at > coalesce(:now::timestamptz, now()) THEN run_at END AS starts_at,
    lane IS NOT NULL AS limited, queue, kind, group_name, job_key
FROM {schema}.job
WHERE schedule_id = ANY (:schedules::bigint[]) AND origin NOT {backfill}
ORDER BY id + 0
FOR UPDATE
