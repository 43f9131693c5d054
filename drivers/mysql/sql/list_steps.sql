-- shared statement listSteps, returns job_id name sort place version value waits until timed_out at
-- The steps of jobs.
SELECT job_id, name, sort, place, version, value, waits, {micros(until)} AS until, timed_out, {micros(at)} AS at
FROM hourbell_step FORCE INDEX (PRIMARY) WHERE job_id IN (:ids)
ORDER BY job_id, place, name
