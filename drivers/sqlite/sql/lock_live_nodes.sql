-- shared statement findLiveNodes, returns NodeColumns
-- shared statement lockLiveNodes, given lock, returns NodeColumns
-- The nodes that have not ended, or only some of them.
SELECT id, name, version, host, labels, queues, kinds, zones, problems, lease, started_at, seen_at, ended_at, died, beats, 0 AS running
FROM hourbell_node
WHERE ended_at IS NULL
  AND id IN (SELECT value FROM json_each(:nodes)) -- if lock
ORDER BY id
