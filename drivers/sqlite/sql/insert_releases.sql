-- statement InsertReleases
-- Notes the ends of live jobs that have dependents, before they are deleted.
INSERT INTO hourbell_release (on_id, schedule_id, ended_at, state, reason)
SELECT j.id, CASE WHEN j.origin {sets_off} THEN j.schedule_id END, :now, o.value ->> 'state', o.value ->> 'reason'
FROM jsonb_each(:ends) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id'
WHERE j.releases = 1
