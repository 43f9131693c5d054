-- statement findChain, takes names, returns schedule predecessor
-- The predecessors of these schedules, except of tombstones.
SELECT d.name AS schedule, c.predecessor
FROM {schema}.schedule AS d JOIN {schema}.chain AS c ON c.schedule_id = d.id
WHERE d.name = ANY (:names::text[]) AND d.deleted_at IS NULL
