-- statement ListNodes, returns NodeColumns
-- Nodes, greatest number first.
SELECT id, name, version, host, labels, queues, kinds, zones, problems, lease, started_at, seen_at, ended_at, died,
       iif(ended_at IS NULL, beats, 0) AS beats,
       (SELECT count(*) FROM hourbell_job AS j WHERE j.state = 2 AND j.node = hourbell_node.id) AS running
FROM hourbell_node
ORDER BY id DESC
