-- statement InsertDeletedReleases
-- Notes that live jobs which have dependents are deleted.
INSERT INTO hourbell_release (on_id, schedule_id, ended_at, state, reason)
SELECT j.id, CASE WHEN j.origin {sets_off} THEN j.schedule_id END, {at(:now)}, 7, _utf8mb4''
FROM hourbell_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN (:ids) AND j.releases = 1
