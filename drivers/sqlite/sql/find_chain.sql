-- statement FindChain, returns schedule predecessor
-- The predecessors of these schedules, except of tombstones.
SELECT d.name AS schedule, c.predecessor
FROM json_each(:names) AS o
CROSS JOIN hourbell_schedule AS d ON d.name = o.value
CROSS JOIN hourbell_chain AS c ON c.schedule_id = d.id
WHERE d.deleted_at IS NULL
