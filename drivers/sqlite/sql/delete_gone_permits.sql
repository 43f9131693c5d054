-- statement DeleteGonePermits
-- Deletes the permits of nodes that do not live and hold no jobs, and of limits that have ended.
DELETE FROM hourbell_node_permit AS p
WHERE NOT EXISTS (SELECT 1 FROM hourbell_node AS n WHERE n.id = p.node AND n.ended_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.state = 2 AND j.node = p.node)
  OR NOT EXISTS (SELECT 1 FROM hourbell_job_limit AS l WHERE l.id = p.limit_id AND l.ended_at IS NULL)
