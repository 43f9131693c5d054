-- statement FindDecidedEdges, returns id matched missed state reason
-- What is known of the decided edges of jobs: whether one has matched, and how the first
-- predecessor ended whose edge has not. Predecessors that were deleted do not count; a
-- predecessor that was retried since is as if it was cancelled, until its edge is open again.
SELECT d.id, d.matched, coalesce(d.missed, 0) AS missed, coalesce(h.state, 5) AS state, coalesce(h.reason, _utf8mb4'') AS reason
FROM (
  SELECT e.job_id AS id, max(e.state = 1) AS matched, min(CASE WHEN e.state = 2 AND (EXISTS (SELECT 1 FROM hourbell_history AS f WHERE f.id = e.on_id)
    OR EXISTS (SELECT 1 FROM hourbell_job AS l WHERE l.id = e.on_id)) THEN e.on_id END) AS missed
  FROM hourbell_edge AS e FORCE INDEX (hourbell_edge_job) WHERE e.job_id IN (:ids) GROUP BY e.job_id
) AS d LEFT JOIN hourbell_history AS h ON h.id = d.missed
