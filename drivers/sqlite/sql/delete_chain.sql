-- statement DeleteChain
-- Deletes which schedules these schedules follow.
DELETE FROM hourbell_chain
WHERE schedule_id IN (SELECT id FROM hourbell_schedule WHERE name IN (SELECT value FROM json_each(:names)))
