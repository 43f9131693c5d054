-- statement lockHeldJobs, takes nodes, returns heldColumns
-- Locks the running jobs of nodes that have ended, in the order of the jobs' numbers, and
-- returns whether each may have begun by the last claim that has it. Jobs that other
-- transactions have locked are left out.
SELECT j.id, j.token, j.node, j.attempt, j.headers, j.schedule_id, s.name AS schedule_name, j.slot, j.origin,
    j.losses, h.begun, {j.spec}
FROM (
    SELECT DISTINCT ON (l.node, u.id) l.node, u.id, coalesce(u.id = ANY (l.begun), true) AS begun
    FROM {schema}.lease AS l CROSS JOIN unnest(l.ids) AS u (id)
    WHERE l.node = ANY (:nodes::bigint[])
    ORDER BY l.node, u.id, l.id DESC
) AS h JOIN {schema}.job AS j ON j.id = ANY (ARRAY[h.id]) LEFT JOIN {schema}.schedule AS s ON s.id = j.schedule_id
WHERE j.node = h.node AND j.running
ORDER BY j.id + 0
FOR UPDATE OF j SKIP LOCKED
