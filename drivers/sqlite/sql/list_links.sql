-- statement ListLinks, returns job_id on_id delay on state
-- Edges from and to jobs, as far as :limit allows for each.
SELECT job_id, on_id, delay, "on", state FROM (
  SELECT * FROM (SELECT job_id, on_id, delay, "on", state FROM hourbell_edge WHERE job_id IN (SELECT value FROM json_each(:ids)) ORDER BY job_id, on_id LIMIT +:limit)
  UNION
  SELECT * FROM (SELECT job_id, on_id, delay, "on", state FROM hourbell_edge WHERE on_id IN (SELECT value FROM json_each(:ids)) ORDER BY on_id, job_id LIMIT +:limit)
)
ORDER BY job_id, on_id
