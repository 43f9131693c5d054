-- Locks the live jobs of schedules, without backfilled jobs, in the order of their
-- numbers.
SELECT id, schedule_id, slot, running, state = 1 AS waiting, attempt, snoozes IS NOT NULL AS snoozed, origin, node
FROM {schema}.job
WHERE schedule_id = ANY (:schedules::bigint[]) AND origin NOT {backfill}
ORDER BY id + 0
FOR UPDATE
