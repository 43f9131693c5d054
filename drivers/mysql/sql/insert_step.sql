-- statement InsertStep, returns at
-- Stores a result of a job that runs with a token, and returns the instant. A step of this name is an error. MySQL returns no row.
INSERT INTO hourbell_step (job_id, name, sort, place, version, value, waits, timed_out, at)
SELECT id, :name, :sort, :place, :version, :value, false, false, COALESCE({at(:now)}, UTC_TIMESTAMP(6))
FROM hourbell_job FORCE INDEX (PRIMARY) WHERE id = :job AND state = 2 AND token = :token
FOR UPDATE
{returning_at}
