-- shared statement findStep, returns job_id name sort place version value waits until timed_out at
-- A step of a job.
SELECT job_id, name, sort, place, version, value, waits, until, timed_out, at FROM hourbell_step WHERE job_id = :job AND name = :name
