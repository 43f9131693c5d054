-- Copies finished jobs back under their numbers; delete_finished_jobs follows.
INSERT INTO hourbell_job (id, run_at, created_at, started_at, slot, schedule_id, node, token, timeout, priority, state, attempt,
                          max_attempts, on_loss, origin, queue, kind, args, headers, unique_key, losses)
SELECT h.id, o.value ->> 'run_at', h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, h.timeout, h.priority, 0, h.attempt,
       o.value ->> 'max_attempts', h.on_loss, h.origin, h.queue, h.kind, h.args, h.headers, h.unique_key, h.losses
FROM jsonb_each(:jobs) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value ->> 'id'
