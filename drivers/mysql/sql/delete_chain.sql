-- statement DeleteChain
-- Deletes which schedules these schedules follow.
DELETE c FROM hourbell_schedule AS s FORCE INDEX (hourbell_schedule_name)
STRAIGHT_JOIN hourbell_chain AS c FORCE INDEX (hourbell_chain_schedule) ON c.schedule_id = s.id
WHERE s.name IN (:names)
