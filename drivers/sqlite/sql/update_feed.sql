-- shared statement updateFeed
-- Sets for how long events are kept. If none were stored until now, readers that continue
-- have missed events.
UPDATE hourbell_feed SET keep = :keep,
  gone_id = CASE WHEN keep = 0 AND :keep > 0 THEN coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'hourbell_event'), 0) ELSE gone_id END
