-- Changes limits, which are locked, so that no other server of the cluster changes them.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job_limit AS l FORCE INDEX (PRIMARY) ON l.id = o.id
SET l.touched = (l.touched + 1) % 100
