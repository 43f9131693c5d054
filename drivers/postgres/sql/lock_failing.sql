-- statement lockFailing, takes ids, returns schedule_id failures
-- Locks the rows of the schedules that are failing, in the order of their numbers.
SELECT schedule_id, failures FROM {schema}.failing WHERE schedule_id = ANY (:ids::bigint[]) ORDER BY schedule_id FOR UPDATE
