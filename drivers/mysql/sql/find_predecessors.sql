-- statement findPredecessors, returns id
-- Which of these jobs are live or finished.
SELECT id FROM hourbell_job WHERE id IN (:ids)
UNION ALL
SELECT id FROM hourbell_history WHERE id IN (:ids)
