-- shared statement lockReleases, returns id number on_id done_to schedule_id ended_at state reason held
-- Locks notes of ended jobs, the oldest first, except notes that other transactions have locked. An
-- end is held if an older note of a retry of its job is not carried out.
SELECT r.id, coalesce(r.first_id, r.id) AS number, r.on_id, r.done_to, coalesce(r.schedule_id, 0) AS schedule_id, {micros(r.ended_at)} AS ended_at, r.state, r.reason,
  r.state <> 1 AND EXISTS (SELECT 1 FROM hourbell_release AS x FORCE INDEX (hourbell_release_on)
    WHERE x.on_id = r.on_id AND x.state = 1 AND coalesce(x.first_id, x.id) < coalesce(r.first_id, r.id)) AS held
FROM hourbell_release AS r FORCE INDEX (PRIMARY)
WHERE r.id > :after_id
ORDER BY r.id LIMIT :limit
FOR UPDATE SKIP LOCKED
