-- Notes the ends of live jobs that have dependents, before they are deleted.
INSERT INTO hourbell_release (on_id, ended_at, state, reason)
SELECT j.id, :now, o.value ->> 'state', o.value ->> 'reason'
FROM jsonb_each(:ends) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id'
WHERE j.releases = 1
