-- shared statement insertRetries
-- Notes the retries of jobs that have dependents.
INSERT INTO hourbell_release (on_id, ended_at, state, reason)
SELECT DISTINCT e.on_id, {at(:now)}, 1, _utf8mb4'' FROM hourbell_edge AS e FORCE INDEX (PRIMARY) WHERE e.on_id IN (:ids)
