-- Takes back what advance_schedules counted for jobs that were not made.
UPDATE {schema}.schedule AS s SET fired = s.fired - u.jobs
FROM unnest(:ids::bigint[], :fired::bigint[]) AS u (id, jobs)
WHERE s.id = u.id
