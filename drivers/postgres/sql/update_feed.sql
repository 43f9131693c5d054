-- statement updateFeed, takes keep
-- Sets for how long events are kept. If none were stored until now, readers that continue
-- have missed events.
UPDATE {schema}.feed SET keep_us = :keep::bigint,
    gone_tx = CASE WHEN keep_us = 0 AND :keep > 0 THEN pg_current_xact_id()::text::bigint ELSE gone_tx END,
    gone_id = CASE WHEN keep_us = 0 AND :keep > 0 THEN 0 ELSE gone_id END
