-- statement findBusyDependents, takes ids, returns id
-- Which of these jobs, which other transactions have locked, wait for jobs, or were not
-- started.
SELECT id FROM {schema}.job WHERE id = ANY (:ids::bigint[]) AND state + 0 = 1 AND waits IS NOT NULL
UNION ALL
SELECT id FROM {schema}.history WHERE id = ANY (:ids::bigint[]) AND state = 6
