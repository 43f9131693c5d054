-- Which of these schedules fail, locked in the order of their numbers.
SELECT schedule_id, failures FROM {schema}.failing WHERE schedule_id = ANY (:ids::bigint[]) ORDER BY schedule_id FOR UPDATE
