-- shared statement listGroups, returns groupColumns, a listing
-- The groups that a schedule or a live job has, with what they have.
SELECT name, sum(schedules) AS schedules, sum(ready) AS ready, sum(scheduled) AS scheduled, sum(running) AS running, sum(waiting) AS waiting
FROM (
  SELECT group_name AS name, count(*) AS schedules, 0 AS ready, 0 AS scheduled, 0 AS running, 0 AS waiting
  FROM hourbell_schedule WHERE group_name IS NOT NULL AND deleted_at IS NULL
    AND group_name = :name -- if name
  GROUP BY group_name
  UNION ALL
  SELECT group_name, 0, sum(state <= 0 AND run_at <= :now), sum(state <= 0 AND run_at > :now), sum(state = 2), sum(state = 1)
  FROM hourbell_job WHERE group_name IS NOT NULL
    AND group_name = :name -- if name
  GROUP BY group_name)
GROUP BY name
ORDER BY name
