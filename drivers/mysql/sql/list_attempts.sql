-- statement ListAttempts, returns job_id attempt token node started_at finished_at outcome error trace output printed
-- The attempts of jobs, oldest first.
SELECT job_id, attempt, token, node, {micros(started_at)} AS started_at, {micros(finished_at)} AS finished_at, outcome, error, trace, output,
       greatest(printed, length(output)) AS printed
FROM hourbell_attempt
WHERE job_id IN (:ids)
ORDER BY job_id, token
