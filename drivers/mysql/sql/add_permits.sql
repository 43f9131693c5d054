-- shared statement addPermits
-- Gives running jobs a further permit each.
UPDATE JSON_TABLE(:jobs, '$[*]' COLUMNS (id BIGINT PATH '$.id', lane BIGINT PATH '$.lane')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.permits = json_array_append(coalesce(j.permits, '[]'), '$', o.lane)
