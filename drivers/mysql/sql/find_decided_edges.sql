-- What is known of the decided edges of jobs: whether one has matched, and how the first
-- predecessor ended whose edge has not. A predecessor that was deleted counts as cancelled.
SELECT d.id, d.matched, coalesce(d.missed, 0) AS missed, coalesce(h.state, 5) AS state, coalesce(h.reason, _utf8mb4'') AS reason
FROM (
  SELECT e.job_id AS id, max(e.state = 1) AS matched, min(CASE WHEN e.state = 2 THEN e.on_id END) AS missed
  FROM hourbell_edge AS e FORCE INDEX (hourbell_edge_job) WHERE e.job_id IN (:ids) GROUP BY e.job_id
) AS d LEFT JOIN hourbell_history AS h ON h.id = d.missed
