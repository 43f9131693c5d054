-- shared statement reopenJobs
-- Copies jobs that were not started back: they wait again; delete_finished_jobs follows.
INSERT INTO hourbell_job (waits, id, run_at, created_at, started_at, slot, schedule_id, node, token, state, attempt, origin, args, headers, losses, snoozes, rare, releases, {spec})
SELECT o.open, h.id, greatest(h.run_at, coalesce({at(o.run_at)}, h.run_at)), h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, 1, h.attempt, h.origin,
       h.args, h.headers, h.losses, h.snoozes,
       h.schedule_id IS NOT NULL OR h.batch IS NOT NULL OR h.losses > 0 OR h.group_name IS NOT NULL OR h.job_key IS NOT NULL OR h.unique_key IS NOT NULL,
       h.releases OR EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.on_id = h.id), {h.spec}
FROM JSON_TABLE(:waits, '$[*]' COLUMNS (id BIGINT PATH '$.id', open BIGINT PATH '$.open', run_at BIGINT PATH '$.run_at')) AS o
STRAIGHT_JOIN hourbell_history AS h FORCE INDEX (PRIMARY) ON h.id = o.id
