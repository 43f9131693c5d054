-- statement lockSerialGroups, takes schedules, returns id
-- Locks the schedules of jobs that are to wait, in the order of their numbers, so that
-- no other transaction fires them or adds waiting jobs.
SELECT id FROM {schema}.schedule WHERE id = ANY (:schedules::bigint[]) ORDER BY id FOR UPDATE
