-- shared statement updateFeed
-- Sets for how long events are kept.
UPDATE hourbell_feed SET keep = :keep
