-- statement AllotPermits
-- Gives jobs permits, or lets them wait in lanes. A job that has waited is due now.
UPDATE JSON_TABLE(:jobs, '$[*]' COLUMNS (id BIGINT PATH '$.id', state SMALLINT PATH '$.state', lane BIGINT PATH '$.lane', permits LONGTEXT CHARACTER SET utf8mb4 PATH '$.permits', waited SMALLINT PATH '$.waited')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.state = o.state, j.lane = nullif(o.lane, 0), j.rare = j.rare OR o.lane <> 0, j.permits = o.permits,
    j.run_at = CASE WHEN o.waited = 1 THEN greatest(j.run_at, {at(:now)}) ELSE j.run_at END
