-- Lanes whose number of permits in use is not the number of permits that jobs hold and that were given back, with the latter number,
-- at most :limit; all lanes or only :lanes. Jobs are read only if there are lanes.
SELECT x.lane AS id, sum(x.held) AS held
FROM (
  SELECT id AS lane, used, 0 AS held, 1 AS there FROM hourbell_lane
  UNION ALL
  SELECT p.lane, 0, 1, 0 FROM hourbell_job AS j JOIN JSON_TABLE(j.permits, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p
  WHERE j.permits IS NOT NULL AND (SELECT l.id FROM hourbell_lane AS l LIMIT 1) IS NOT NULL
  UNION ALL
  SELECT p.lane, 0, 1, 0 FROM hourbell_vacancy AS v JOIN JSON_TABLE(v.lanes, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p) AS x
WHERE :all OR x.lane IN (:lanes)
GROUP BY x.lane HAVING max(x.there) = 1 AND sum(x.used) <> sum(x.held)
ORDER BY x.lane LIMIT :limit
