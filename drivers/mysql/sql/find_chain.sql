-- statement FindChain, returns schedule predecessor
-- The predecessors of these schedules, except of tombstones.
SELECT d.name AS schedule, c.predecessor
FROM hourbell_schedule AS d FORCE INDEX (hourbell_schedule_name)
STRAIGHT_JOIN hourbell_chain AS c FORCE INDEX (hourbell_chain_schedule) ON c.schedule_id = d.id
WHERE d.name IN (:names) AND d.deleted_at IS NULL
{share}
