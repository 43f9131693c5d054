-- Lanes whose number of permits in use is not the number of permits that jobs hold and that were given back, with the latter number,
-- at most :limit; if :lanes is not empty, only of these lanes.
SELECT lane AS id, sum(held) AS held
FROM (
  SELECT id AS lane, used, 0 AS held, 1 AS there FROM hourbell_lane
  UNION ALL
  SELECT p.value, 0, 1, 0 FROM hourbell_job AS j CROSS JOIN json_each(j.permits) AS p WHERE j.permits IS NOT NULL
  UNION ALL
  SELECT p.value, 0, 1, 0 FROM hourbell_vacancy AS v CROSS JOIN json_each(v.lanes) AS p)
WHERE :lanes = '[]' OR lane IN (SELECT value FROM json_each(:lanes))
GROUP BY lane HAVING max(there) AND sum(used) <> sum(held)
ORDER BY lane LIMIT +:limit
