-- shared statement reopenJobs
-- Copies jobs that were not started back: they wait again; delete_finished_jobs follows.
INSERT INTO hourbell_job (waits, id, run_at, created_at, started_at, slot, schedule_id, node, token, state, attempt, origin, args, headers, losses, snoozes, releases, {spec})
SELECT o.value ->> 'open', h.id, max(h.run_at, coalesce(o.value ->> 'run_at', h.run_at)), h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, 1, h.attempt, h.origin,
       h.args, h.headers, h.losses, h.snoozes, h.releases OR EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.on_id = h.id), {h.spec}
FROM jsonb_each(:waits) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value ->> 'id'
