-- Notes how many jobs in a row failed, of schedules that fail and are locked.
UPDATE {schema}.failing AS f SET failures = u.failures
FROM unnest($1::bigint[], $2::bigint[]) AS u (id, failures)
WHERE f.schedule_id = u.id
