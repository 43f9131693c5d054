-- shared statement deleteFinishedJobs
-- Deletes finished jobs.
DELETE h FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o STRAIGHT_JOIN hourbell_history AS h FORCE INDEX (PRIMARY) ON h.id = o.id
