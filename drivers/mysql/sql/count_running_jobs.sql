-- shared statement countRunningJobs, returns node jobs
-- How many jobs of a queue, and of its places, each node has claimed.
SELECT node, count(*) AS jobs FROM hourbell_job
WHERE state = 2 AND {in_queue(queue, :queue)}
GROUP BY node
