-- shared statement insertSlots
-- Records slots, with their jobs or without.
INSERT INTO hourbell_slot (schedule_id, slot, last, count, outcome, reason, job_id, recorded_at)
SELECT value ->> 'schedule', value ->> 'slot', value ->> 'last', value ->> 'count', value ->> 'outcome', value ->> 'reason',
       value ->> 'job', value ->> 'now'
FROM jsonb_each(:rows)
