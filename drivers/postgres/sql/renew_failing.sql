-- statement renewFailing, takes now ids failures
-- Records that schedules, whose rows are locked, are failing again after they were well.
UPDATE {schema}.failing AS f SET since = coalesce(:now::timestamptz, now()), failures = u.failures
FROM unnest(:ids::bigint[], :failures::bigint[]) AS u (id, failures)
WHERE f.schedule_id = u.id
