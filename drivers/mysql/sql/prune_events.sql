-- Deletes rows of the feed.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_event AS t FORCE INDEX (hourbell_event_number) ON t.id = o.id
