-- Records that schedules are failing, in the order of :ids, with their failures. A schedule
-- that another transaction has recorded stays as it is, and is missing in the answer.
INSERT INTO {schema}.failing (schedule_id, since, failures)
SELECT new.id, coalesce(:now::timestamptz, now()), new.failures FROM unnest(:ids::bigint[], :failures::bigint[]) AS new (id, failures)
ON CONFLICT DO NOTHING
RETURNING schedule_id
