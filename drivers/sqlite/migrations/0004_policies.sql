-- Pauses that end by themselves, failures in a row, and jobs that wait for others
-- of their schedule.
ALTER TABLE hourbell_schedule ADD COLUMN paused_until INTEGER;
ALTER TABLE hourbell_failing ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
CREATE INDEX hourbell_job_lane ON hourbell_job (schedule_id, slot, id) WHERE state = 1;
