-- statement pruneEvents, returns id
-- Deletes the oldest rows of the feed.
DELETE FROM hourbell_event WHERE id IN (
  SELECT o.id FROM (SELECT id, at FROM hourbell_event ORDER BY id LIMIT +:limit) AS o
  WHERE o.at < :now - (SELECT keep FROM hourbell_feed))
RETURNING id
