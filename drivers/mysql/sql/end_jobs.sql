-- statement EndJobs, given each
-- statement endJobsAlike, given alike
-- statement EndJobsWithResults, given each results kept
-- Copies jobs to history; delete_ended_jobs then takes them from the hot table. Most jobs end alike: with one state, and
-- without a reason.
INSERT INTO hourbell_history (
  result,                -- if results
  keep_until,            -- if kept
  id, run_at, created_at, started_at, finished_at, slot, schedule_id, node, token, state, attempt, origin,
  node_name, reason, args, headers, losses, snoozes, releases, {spec})
SELECT
  o.result,              -- if results
  {at(o.keep_until)},    -- if kept
  j.id, j.run_at, j.created_at, {started(j.started_at)}, {at(:now)}, j.slot, j.schedule_id, NULLIF(j.node, 0), j.token,
  o.state, j.attempt, j.origin, {node_name}, o.reason, -- if each
  :state, j.attempt, j.origin, COALESCE((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), _utf8mb4''), _utf8mb4'', -- if alike
  j.args, j.headers, j.losses, j.snoozes, j.releases, {j.spec}
FROM JSON_TABLE(:ends, '$[*]' COLUMNS ( -- if each
  result LONGTEXT CHARACTER SET utf8mb4 PATH '$.result',       -- if results
  keep_until BIGINT PATH '$.keep_until', -- if kept
  id BIGINT PATH '$.id', state TINYINT PATH '$.state', reason LONGTEXT CHARACTER SET utf8mb4 PATH '$.reason', -- if each
  node_name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.node_name')) AS o -- if each
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id -- if each
FROM hourbell_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN (:ids) -- if alike
