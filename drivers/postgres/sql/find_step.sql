-- statement findStep, takes id name, returns job_id name sort place version value waits until timed_out at
-- A step of a job.
SELECT job_id, name, sort, place, version, value, waits, until, timed_out, at FROM {schema}.step WHERE job_id = :id::bigint AND name = :name::text
