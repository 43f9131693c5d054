-- statement lockDependents, given waiting, returns id waits run_at
-- statement lockFreeDependents, given free, returns id waits run_at
-- Locks jobs that wait for jobs, in the order of their numbers.
SELECT j.id, j.waits, {micros(j.run_at)} AS run_at FROM hourbell_job AS j FORCE INDEX (PRIMARY)
WHERE j.id IN (:ids) AND j.state = 1 AND j.waits IS NOT NULL ORDER BY j.id
FOR UPDATE              -- if waiting
FOR UPDATE SKIP LOCKED  -- if free
