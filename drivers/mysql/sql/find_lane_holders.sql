-- Jobs that hold permits of lanes and that no node has claimed.
SELECT DISTINCT j.id FROM hourbell_job AS j JOIN JSON_TABLE(j.permits, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p
WHERE j.permits IS NOT NULL AND j.state = 0 AND p.lane IN (:lanes)
ORDER BY j.id LIMIT :limit
