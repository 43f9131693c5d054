-- statement UpdateJobs
-- Gives live jobs another queue or priority, and sets when they are due.
UPDATE JSON_TABLE(:jobs, '$[*]' COLUMNS (id BIGINT PATH '$.id', run_at BIGINT PATH '$.run_at', queue VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.queue', priority SMALLINT PATH '$.priority')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.state = greatest(j.state, 0), j.lane = NULL, j.permits = NULL, j.run_at = {at(o.run_at)}, j.queue = coalesce(nullif(o.queue, _utf8mb4''), j.queue),
    j.priority = coalesce(nullif(o.priority, 0), j.priority)
