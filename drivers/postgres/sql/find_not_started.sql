-- Which of these jobs, which are locked, were not started.
SELECT id FROM {schema}.history WHERE id = ANY (:ids::bigint[]) AND state = 6
