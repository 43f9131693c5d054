-- shared statement deleteEdges
-- Deletes what jobs wait or waited for.
DELETE e FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o STRAIGHT_JOIN hourbell_edge AS e FORCE INDEX (hourbell_edge_job) ON e.job_id = o.id
