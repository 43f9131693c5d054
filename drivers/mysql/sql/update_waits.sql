-- statement UpdateWaits
-- Sets for how many jobs waiting jobs still wait. Without any they are ready.
UPDATE JSON_TABLE(:waits, '$[*]' COLUMNS (id BIGINT PATH '$.id', open BIGINT PATH '$.open', run_at BIGINT PATH '$.run_at')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.waits = nullif(o.open, 0), j.run_at = {at(o.run_at)}, j.state = o.open <> 0
