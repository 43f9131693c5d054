-- How many jobs of a queue, and of its places, each node has claimed.
SELECT node, count(*) AS jobs FROM hourbell_job
WHERE state = 2 AND (queue = :queue OR substr(queue, 1, length(:queue) + 1) = :queue || '@')
GROUP BY node
