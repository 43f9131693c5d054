-- Notes of ended jobs, the oldest first; of several of one job only the first.
SELECT r.id, r.on_id, r.done_to, r.ended_at, r.state, r.reason FROM hourbell_release AS r
WHERE r.id > :after_id AND NOT EXISTS (SELECT 1 FROM hourbell_release AS e WHERE e.on_id = r.on_id AND e.id < r.id)
ORDER BY r.id LIMIT +:limit
