-- shared statement findLaneHolders, returns id
-- Jobs that hold permits of lanes and that no node has claimed, also parked jobs.
SELECT j.id FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.state IN (0, -1)
  AND EXISTS (SELECT 1 FROM json_each(j.permits) AS p WHERE p.value IN (SELECT value FROM json_each(:lanes)))
ORDER BY j.id LIMIT +:limit
