-- shared statement findWrongLanes, returns id held starts
-- Lanes whose number of permits in use, or of starts that no claim has used, is not what jobs hold and what was given back, with the
-- latter numbers, at most :limit; all lanes or only :lanes.
SELECT abs(lane) AS id, sum(held AND lane > 0) AS held, sum(held AND lane < 0) AS starts
FROM (
  SELECT id AS lane, used, starts, 0 AS held FROM hourbell_lane
  UNION ALL
  SELECT p.value, 0, 0, 1 FROM hourbell_job AS j CROSS JOIN json_each(j.permits) AS p WHERE j.permits IS NOT NULL
  UNION ALL
  SELECT p.value, 0, 0, 1 FROM hourbell_vacancy AS v CROSS JOIN json_each(v.lanes) AS p)
WHERE :all OR abs(lane) IN (SELECT value FROM json_each(:lanes))
GROUP BY abs(lane) HAVING NOT min(held) AND (sum(used) <> sum(held AND lane > 0) OR sum(starts) <> sum(held AND lane < 0))
ORDER BY abs(lane) LIMIT +:limit
