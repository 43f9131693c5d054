-- statement ReviveJobs
-- Copies finished jobs back under their numbers; delete_finished_jobs follows.
INSERT INTO hourbell_job (id, run_at, created_at, started_at, slot, schedule_id, node, token, state, attempt, origin, args, headers, losses, snoozes, releases,
                          max_attempts, {spec_fixed})
SELECT h.id, o.value ->> 'run_at', h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, 0, h.attempt, h.origin, h.args, h.headers, h.losses, h.snoozes,
       h.releases OR h.schedule_id IS NOT NULL OR EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.on_id = h.id),
       o.value ->> 'max_attempts', {h.spec_fixed}
FROM jsonb_each(:jobs) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value ->> 'id'
