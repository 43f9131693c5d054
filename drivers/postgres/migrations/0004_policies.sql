-- Pauses that end by themselves, failures in a row, and jobs that wait for others
-- of their schedule.
ALTER TABLE {schema}.schedule ADD COLUMN paused_until timestamptz;
ALTER TABLE {schema}.failing ADD COLUMN failures bigint NOT NULL DEFAULT 0;

CREATE INDEX job_waiting ON {schema}.job (schedule_id, slot, id) WHERE state = 1;
