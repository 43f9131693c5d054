-- statement ReviveJobs
-- Copies finished jobs back under their numbers; delete_finished_jobs follows.
INSERT INTO hourbell_job (id, run_at, created_at, started_at, slot, schedule_id, node, token, state, attempt, origin, args, headers, losses, snoozes, rare, releases,
                          max_attempts, {spec_fixed})
SELECT h.id, {at(o.run_at)}, h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, 0, h.attempt, h.origin, h.args, h.headers, h.losses, h.snoozes,
       h.schedule_id IS NOT NULL OR h.batch IS NOT NULL OR h.losses > 0 OR h.group_name IS NOT NULL OR h.job_key IS NOT NULL OR h.unique_key IS NOT NULL,
       h.releases OR h.schedule_id IS NOT NULL OR EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.on_id = h.id),
       o.max_attempts, {h.spec_fixed}
FROM JSON_TABLE(:jobs, '$[*]' COLUMNS (id BIGINT PATH '$.id', run_at BIGINT PATH '$.run_at', max_attempts BIGINT PATH '$.max_attempts')) AS o
STRAIGHT_JOIN hourbell_history AS h FORCE INDEX (PRIMARY) ON h.id = o.id
