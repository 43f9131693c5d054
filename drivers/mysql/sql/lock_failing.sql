-- statement LockFailing, returns schedule_id failures
-- Locks the rows of the schedules that are failing, in the order of their numbers.
SELECT schedule_id, failures FROM hourbell_failing FORCE INDEX (PRIMARY) WHERE schedule_id IN (:ids) ORDER BY schedule_id FOR UPDATE
