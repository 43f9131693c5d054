-- statement findPredecessors, takes ids, returns id
-- Which of these jobs are live or finished.
SELECT id FROM {schema}.job WHERE id = ANY (:ids::bigint[])
UNION ALL
SELECT id FROM {schema}.history WHERE id = ANY (:ids::bigint[])
