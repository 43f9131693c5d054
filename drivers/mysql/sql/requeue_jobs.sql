-- statement RequeueJobs
-- Makes live jobs claimable again. Their tokens stay, and so do permits, unless a job snoozes.
UPDATE JSON_TABLE(:jobs, '$[*]' COLUMNS (id BIGINT PATH '$.id', delay BIGINT PATH '$.delay', refund INT PATH '$.refund',
  counted BOOLEAN PATH '$.counted', lost BOOLEAN PATH '$.lost', well BOOLEAN PATH '$.well', snoozed BOOLEAN PATH '$.snoozed')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.state = 0, j.lane = NULL, j.rare = j.rare OR o.lost, j.permits = CASE WHEN o.snoozed THEN NULL ELSE j.permits END, j.run_at = {at(:now)} + INTERVAL o.delay MICROSECOND, j.attempt = j.attempt - o.refund,
  j.refunds = LEAST(j.refunds + o.counted, 32767), j.losses = IF(o.well, 0, LEAST(j.losses + o.lost, 32767)),
  j.snoozes = IF(o.snoozed, COALESCE(j.snoozes, 0) + 1, j.snoozes)
