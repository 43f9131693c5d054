-- statement FindDecidedEdges, returns id matched missed state reason
-- What is known of the decided edges of jobs: whether one has matched, and how the first
-- predecessor ended whose edge has not. Predecessors that were deleted do not count; a
-- predecessor that was retried since is as if it was cancelled, until its edge is open again.
SELECT d.id, d.matched, coalesce(d.missed, 0) AS missed, coalesce(h.state, 5) AS state, coalesce(h.reason, '') AS reason
FROM (
  SELECT o.value AS id, EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.job_id = o.value AND e.state = 1) AS matched,
    (SELECT min(e.on_id) FROM hourbell_edge AS e WHERE e.job_id = o.value AND e.state = 2
      AND (EXISTS (SELECT 1 FROM hourbell_history AS f WHERE f.id = e.on_id) OR EXISTS (SELECT 1 FROM hourbell_job AS l WHERE l.id = e.on_id))) AS missed
  FROM json_each(:ids) AS o
) AS d LEFT JOIN hourbell_history AS h ON h.id = d.missed
