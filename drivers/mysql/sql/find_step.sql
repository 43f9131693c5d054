-- shared statement findStep, returns job_id name sort place version value waits until timed_out at
-- A step of a job.
SELECT job_id, name, sort, place, version, value, waits, {micros(until)} AS until, timed_out, {micros(at)} AS at
FROM hourbell_step FORCE INDEX (PRIMARY) WHERE job_id = :job AND name = :name
{share}
