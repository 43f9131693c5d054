-- statement readFeed, returns keep gone_id
-- For how long events are kept, and the last row that was deleted.
SELECT keep, gone_id FROM hourbell_feed
