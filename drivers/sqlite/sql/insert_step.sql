-- statement InsertStep, returns at
-- Stores a result of a job that runs with a token, unless the job has a step of this name, and returns the instant.
INSERT INTO hourbell_step (job_id, name, sort, place, version, value, waits, timed_out, at)
SELECT id, :name, :sort, :place, :version, :value, false, false, coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000)
FROM hourbell_job WHERE id = :job AND state = 2 AND token = :token
ON CONFLICT (job_id, name) DO NOTHING
RETURNING at
