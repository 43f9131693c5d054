-- statement beginFailing, takes now ids failures, returns schedule_id
-- Records that schedules are failing, in the order of :ids, with their failures. The row
-- of a schedule that another transaction has recorded does not change, and the answer does
-- not have it.
INSERT INTO {schema}.failing (schedule_id, since, failures)
SELECT new.id, coalesce(:now::timestamptz, now()), new.failures FROM unnest(:ids::bigint[], :failures::bigint[]) AS new (id, failures)
ON CONFLICT DO NOTHING
RETURNING schedule_id
