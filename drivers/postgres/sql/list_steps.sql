-- statement listSteps, takes ids, returns job_id name sort place version value waits until timed_out at
-- The steps of jobs.
SELECT job_id, name, sort, place, version, value, waits, until, timed_out, at FROM {schema}.step WHERE job_id = ANY (:ids::bigint[])
ORDER BY job_id, place, name
