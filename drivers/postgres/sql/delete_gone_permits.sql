-- Deletes the permits of nodes that do not live and hold no jobs, and of limits that have ended.
DELETE FROM {schema}.node_permit AS p
WHERE NOT EXISTS (SELECT FROM {schema}.heartbeat AS h WHERE h.node = p.node) AND NOT EXISTS (SELECT FROM {schema}.lease AS c WHERE c.node = p.node)
    OR NOT EXISTS (SELECT FROM {schema}.job_limit AS l WHERE l.id = p.limit_id AND l.ended_at IS NULL)
