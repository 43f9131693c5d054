-- shared statement upsertStep
-- Stores a step of a job.
INSERT INTO hourbell_step (job_id, name, sort, place, version, value, waits, until, timed_out, at)
VALUES (:job, :name, :sort, :place, :version, :value, :waits, :until, :timed_out, :at)
ON CONFLICT (job_id, name) DO UPDATE
SET place = excluded.place, version = excluded.version, value = excluded.value, waits = excluded.waits, until = excluded.until, timed_out = excluded.timed_out, at = excluded.at
