-- statement readFeed, returns keep gone_id unnumbered
-- For how long events are kept, the last row that was deleted, and whether there are rows without a number.
SELECT (SELECT keep FROM hourbell_feed) AS keep, (SELECT value FROM hourbell_counter WHERE name = 'event_gone') AS gone_id,
       (SELECT entry FROM hourbell_event WHERE id IS NULL LIMIT 1) IS NOT NULL AS unnumbered
