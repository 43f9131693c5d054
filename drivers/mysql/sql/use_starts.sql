-- shared statement useStarts
-- Takes from jobs, which are locked, the starts that they hold.
UPDATE JSON_TABLE(:jobs, '$[*]' COLUMNS (id BIGINT PATH '$.id', permits LONGTEXT PATH '$.permits')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id SET j.permits = o.permits
