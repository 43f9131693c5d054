-- shared statement countLosses
-- Counts one more loss of jobs.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.losses = LEAST(j.losses + 1, 32767)
