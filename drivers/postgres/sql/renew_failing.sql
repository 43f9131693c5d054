-- Notes that schedules, which are locked, fail again after they were well.
UPDATE {schema}.failing AS f SET since = coalesce($1::timestamptz, now()), failures = u.failures
FROM unnest($2::bigint[], $3::bigint[]) AS u (id, failures)
WHERE f.schedule_id = u.id
