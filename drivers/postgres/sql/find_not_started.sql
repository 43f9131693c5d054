-- statement findNotStarted, takes ids, returns id kind unique_key
-- Which of these jobs, which are locked, were not started, and their keys.
SELECT id, kind, coalesce(unique_key, '') AS unique_key FROM {schema}.history WHERE id = ANY (:ids::bigint[]) AND state = 6 ORDER BY id + 0
