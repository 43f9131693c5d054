-- Up to 1,000 live jobs of a kind. The index of ready jobs has the kinds of each queue in order, so that a queue
-- costs a look.
SELECT r.id FROM (WITH RECURSIVE q (name) AS (SELECT min(n.queue) FROM hourbell_job AS n WHERE n.state = 0
    UNION ALL SELECT (SELECT min(n.queue) FROM hourbell_job AS n WHERE n.state = 0 AND n.queue > q.name) FROM q WHERE q.name IS NOT NULL)
    SELECT name FROM q) AS q CROSS JOIN hourbell_job AS r INDEXED BY hourbell_job_ready WHERE r.state = 0 AND r.queue = q.name AND r.kind = $1
    UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.state = 2 AND r.kind = $1
    UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.state = 1 AND r.kind = $1
    UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.state = -1 AND r.kind = $1
    UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.lane IS NOT NULL AND r.kind = $1 LIMIT 1000
