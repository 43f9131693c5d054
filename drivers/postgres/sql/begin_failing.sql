-- Records that schedules are failing, in the order of $2, with their failures. A schedule
-- that another transaction has recorded stays as it is, and is missing in the answer.
INSERT INTO {schema}.failing (schedule_id, since, failures)
SELECT new.id, coalesce($1::timestamptz, now()), new.failures FROM unnest($2::bigint[], $3::bigint[]) AS new (id, failures)
ON CONFLICT DO NOTHING
RETURNING schedule_id
