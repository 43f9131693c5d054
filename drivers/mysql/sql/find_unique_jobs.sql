-- statement findUniqueJobs, returns place id begun running in_batch holds queue priority run_at created_at
-- statement lockUniqueJobs, given lock, returns place id begun running in_batch holds queue priority run_at created_at
-- The live jobs that have some kinds and keys, each with the place of its key.
SELECT o.place, j.id, (j.state = 2 OR j.attempt > 0 OR j.refunds > 0 OR COALESCE(j.snoozes, 0) > 0) AS begun, j.state = 2 AS running,
  j.batch IS NOT NULL AS in_batch,
  EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.kind = j.kind AND u.unique_key = j.unique_key AND u.until > {at(:now)}) AS holds,
  j.queue, j.priority, {micros(j.run_at)} AS run_at, {micros(j.created_at)} AS created_at
FROM (SELECT * FROM JSON_TABLE(:keys, '$[*]' COLUMNS (place BIGINT PATH '$.place',
  kind VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.kind', unique_key VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.unique')) AS x) AS o

STRAIGHT_JOIN hourbell_job_rare AS r FORCE INDEX (hourbell_rare_unique) ON r.unique_kind = o.kind AND r.unique_key = o.unique_key
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = r.job_id
FOR UPDATE -- if lock
