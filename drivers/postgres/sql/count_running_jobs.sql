-- statement countRunningJobs, takes queue, returns node jobs
-- How many jobs of a queue, and of its places, each node has claimed.
SELECT l.node, count(*) AS jobs
FROM {schema}.lease AS l, unnest(l.ids) AS u (id) JOIN {schema}.job AS j ON j.id = ANY (ARRAY[u.id])
WHERE j.running AND j.node = l.node AND {in_queue(j.queue, :queue::text)}
GROUP BY l.node
