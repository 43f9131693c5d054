-- Locks the living jobs of schedules, in the order of their numbers.
SELECT id, schedule_id, slot, running, attempt, origin
FROM {schema}.job
WHERE schedule_id = ANY ($1::bigint[])
ORDER BY id
FOR UPDATE
