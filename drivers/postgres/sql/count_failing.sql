-- statement countFailing, takes ids failures
-- Records how many jobs in a row failed, of schedules that are failing. Their rows are
-- locked.
UPDATE {schema}.failing AS f SET failures = u.failures
FROM unnest(:ids::bigint[], :failures::bigint[]) AS u (id, failures)
WHERE f.schedule_id = u.id
