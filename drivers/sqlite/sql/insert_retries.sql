-- shared statement insertRetries
-- Notes the retries of jobs that have dependents.
INSERT INTO hourbell_release (on_id, ended_at, state, reason)
SELECT o.value, :now, 1, '' FROM json_each(:ids) AS o
WHERE EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.on_id = o.value)
