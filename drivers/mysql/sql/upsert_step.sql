-- shared statement upsertStep
-- Stores a step of a job.
INSERT INTO hourbell_step (job_id, name, sort, place, version, value, waits, until, timed_out, at)
VALUES (:job, :name, :sort, :place, :version, :value, :waits, {at(:until)}, :timed_out, {at(:at)})
ON DUPLICATE KEY UPDATE place = VALUES(place), version = VALUES(version), value = VALUES(value), waits = VALUES(waits), until = VALUES(until),
    timed_out = VALUES(timed_out), at = VALUES(at)
