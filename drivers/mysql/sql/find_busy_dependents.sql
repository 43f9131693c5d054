-- statement findBusyDependents, returns id
-- Which of these jobs, which other transactions have locked, wait for jobs, or were not
-- started.
SELECT id FROM hourbell_job WHERE id IN (:ids) AND state = 1 AND waits IS NOT NULL
UNION ALL
SELECT id FROM hourbell_history WHERE id IN (:ids) AND state = 6
