-- statement InsertDeletedReleases
-- Notes that live jobs which have dependents are deleted.
INSERT INTO hourbell_release (on_id, schedule_id, ended_at, state, reason)
SELECT j.id, CASE WHEN j.origin {sets_off} THEN j.schedule_id END, :now, 7, '' FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value WHERE j.releases = 1
