-- statement ListLinks, returns job_id on_id delay on state
-- Edges from and to jobs, as far as :limit allows for each.
SELECT l.job_id, l.on_id, l.delay, l.`on`, l.state FROM (
  (SELECT a.job_id, a.on_id, a.delay, a.`on`, a.state FROM hourbell_edge AS a FORCE INDEX (hourbell_edge_job) WHERE a.job_id IN (:ids) ORDER BY a.job_id, a.on_id LIMIT :limit)
  UNION
  (SELECT b.job_id, b.on_id, b.delay, b.`on`, b.state FROM hourbell_edge AS b FORCE INDEX (PRIMARY) WHERE b.on_id IN (:ids) ORDER BY b.on_id, b.job_id LIMIT :limit)
) AS l
ORDER BY l.job_id, l.on_id
