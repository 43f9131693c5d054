-- shared statement insertSlots
-- Records slots, with their jobs or without.
INSERT INTO hourbell_slot (schedule_id, slot, last, count, outcome, reason, job_id, recorded_at)
VALUES
(:schedule, {at(:slot)}, {at(:last)}, :count, :outcome, :reason, :job, {at(:now)})
