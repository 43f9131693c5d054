-- statement listLanes, returns key used waiting starts tat not_before
-- The lanes of a limit in which most jobs wait, at most :lanes, among the :candidates lanes of the limit with the most permits
-- in use. At most :most waiting jobs of a lane are counted.
SELECT key, used, waiting, starts, tat, not_before
FROM (
  SELECT c.key, c.used, c.starts, c.tat, c.not_before, (SELECT count(*) FROM (
    SELECT 1 FROM hourbell_job AS j WHERE j.lane = c.id LIMIT +:most)) AS waiting
  FROM (SELECT id, key, used, starts, tat, not_before FROM hourbell_lane WHERE limit_id = :limit ORDER BY used DESC, id LIMIT +:candidates) AS c)
WHERE used > 0 OR waiting > 0 OR not_before > :now
ORDER BY waiting DESC, used DESC, key
LIMIT +:lanes
