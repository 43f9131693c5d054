-- shared statement findLaneHolders, returns id
-- Jobs that hold permits of lanes and that no node has claimed, also parked jobs.
SELECT DISTINCT j.id FROM hourbell_job AS j JOIN JSON_TABLE(j.permits, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p
WHERE j.permits IS NOT NULL AND j.state IN (0, -1) AND p.lane IN (:lanes)
ORDER BY j.id LIMIT :limit
