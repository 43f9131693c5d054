-- shared statement findWrongLanes, returns id held starts
-- Lanes whose number of permits in use, or of starts that no claim has used, is not what jobs hold and what was given back, with the
-- latter numbers, at most :limit; all lanes or only :lanes. Jobs are read only if there are lanes.
SELECT x.lane AS id, sum(x.held) AS held, sum(x.held_starts) AS starts
FROM (
  SELECT id AS lane, used, starts, 0 AS held, 0 AS held_starts, 1 AS there FROM hourbell_lane
  UNION ALL
  SELECT abs(p.lane), 0, 0, p.lane > 0, p.lane < 0, 0 FROM hourbell_job AS j JOIN JSON_TABLE(j.permits, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p
  WHERE j.permits IS NOT NULL AND (SELECT l.id FROM hourbell_lane AS l LIMIT 1) IS NOT NULL
  UNION ALL
  SELECT abs(p.lane), 0, 0, p.lane > 0, p.lane < 0, 0 FROM hourbell_vacancy AS v JOIN JSON_TABLE(v.lanes, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p) AS x
WHERE :all OR x.lane IN (:lanes)
GROUP BY x.lane HAVING max(x.there) = 1 AND (sum(x.used) <> sum(x.held) OR sum(x.starts) <> sum(x.held_starts))
ORDER BY x.lane LIMIT :limit
