-- Remembers the last row of the feed that was deleted.
UPDATE hourbell_feed SET gone_id = max(gone_id, :id)
