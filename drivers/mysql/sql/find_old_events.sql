-- statement findOldEvents, returns id
-- The old rows among the oldest rows of the feed.
SELECT o.id
FROM (SELECT id, at FROM hourbell_event WHERE id IS NOT NULL ORDER BY id LIMIT :limit) AS o
WHERE o.at < {at(:now)} - INTERVAL (SELECT keep FROM hourbell_feed) MICROSECOND
