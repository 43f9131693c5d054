-- Changes jobs, which are locked, so that no other server of the cluster changes them.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.touched = (j.touched + 1) % 100
