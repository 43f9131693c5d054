-- statement findGonePermits, returns limit_id node
-- The permits of nodes that do not live and hold no jobs, and of limits that have ended.
SELECT p.limit_id, p.node FROM hourbell_node_permit AS p
WHERE (SELECT n.id FROM hourbell_node AS n WHERE n.id = p.node AND n.ended_at IS NULL) IS NULL
    AND (SELECT j.id FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready) WHERE j.state = 2 AND j.node = p.node LIMIT 1) IS NULL
  OR (SELECT l.id FROM hourbell_job_limit AS l WHERE l.id = p.limit_id AND l.ended_at IS NULL) IS NULL
