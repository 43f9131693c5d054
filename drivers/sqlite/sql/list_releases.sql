-- statement listReleases, returns id on_id done_to schedule_id ended_at state reason
-- Notes of ended jobs, the oldest first.
SELECT r.id, r.on_id, r.done_to, coalesce(r.schedule_id, 0) AS schedule_id, r.ended_at, r.state, r.reason FROM hourbell_release AS r
WHERE r.id > :after_id
ORDER BY r.id LIMIT +:limit
