-- statement uncountFiredSlots, takes ids fired
-- Subtracts jobs that were not made from what advance_schedules has counted.
UPDATE {schema}.schedule AS s SET fired = s.fired - u.jobs
FROM unnest(:ids::bigint[], :fired::bigint[]) AS u (id, jobs)
WHERE s.id = u.id
