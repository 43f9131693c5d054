-- Copies finished jobs back under their numbers and returns these; delete_finished_jobs
-- follows. None is due before a slot of its schedule that has fired ahead, which is
-- until :most. A job whose key another job of its kind holds is left out, and of
-- several with one key the first is copied.
INSERT INTO hourbell_job (id, run_at, created_at, started_at, slot, schedule_id, node, token, timeout, priority, state, attempt,
                          max_attempts, on_loss, origin, queue, kind, args, headers, unique_key, losses)
SELECT h.id, coalesce((SELECT max(:now, s.mark) FROM hourbell_schedule AS s WHERE s.id = h.schedule_id AND s.mark <= :most), :now), h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, h.timeout, h.priority, 0, h.attempt,
       max(h.max_attempts, min(h.attempt + 1, 32767)), h.on_loss, h.origin, h.queue, h.kind, h.args, h.headers, h.unique_key, h.losses
FROM json_each(:ids) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value
WHERE true
ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING
RETURNING id
