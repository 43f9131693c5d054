-- statement findLiveNodes, returns id host labels queues kinds
-- The nodes that have not ended: where they run, and what they take.
SELECT id, host, labels, queues, kinds FROM {schema}.node
WHERE ended_at IS NULL
ORDER BY id
