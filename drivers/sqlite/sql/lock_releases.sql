-- shared statement lockReleases, returns id number on_id done_to schedule_id ended_at state reason held
-- Notes of ended jobs, the oldest first. Each is carried out before the next, so that no end is held.
SELECT r.id, r.id AS number, r.on_id, r.done_to, coalesce(r.schedule_id, 0) AS schedule_id, r.ended_at, r.state, r.reason, false AS held FROM hourbell_release AS r
WHERE r.id > :after_id
ORDER BY r.id LIMIT +:limit
