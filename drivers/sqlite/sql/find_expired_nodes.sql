SELECT id, name, version, queues, kinds, lease, started_at, seen_at, ended_at, died,
       (SELECT count(*) FROM hourbell_job AS j WHERE j.state = 2 AND j.node = hourbell_node.id) AS running
FROM hourbell_node WHERE ended_at IS NULL AND id <> :node AND seen_at + lease <= :now
  AND EXISTS (SELECT 1 FROM hourbell_node AS asker
    WHERE asker.id = :node AND asker.ended_at IS NULL AND abs(:now - asker.seen_at) * 2 <= asker.lease)
ORDER BY id
