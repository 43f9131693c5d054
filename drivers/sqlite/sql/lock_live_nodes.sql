-- statement lockLiveNodes, returns sqlrows.NodeColumns
-- The nodes that have not ended.
SELECT id, name, version, host, labels, queues, kinds, zones, problems, lease, started_at, seen_at, ended_at, died, beats, 0 AS running
FROM hourbell_node WHERE ended_at IS NULL
ORDER BY id
