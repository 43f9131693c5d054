-- statement lockFeed, returns keep
-- For how long events are kept.
SELECT keep FROM hourbell_feed WHERE one = 1 FOR UPDATE
