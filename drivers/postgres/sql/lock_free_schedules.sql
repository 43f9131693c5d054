-- statement lockFreeSchedules, takes ids, returns id
-- Locks schedules that no other transaction locks, in the order of their numbers.
SELECT id FROM {schema}.schedule WHERE id = ANY (:ids::bigint[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
