-- statement FindNewestSlots, returns schedule_id id slot last outcome reason
-- The newest record of each schedule.
SELECT r.schedule_id, r.id, {micros(r.slot)} AS slot, {micros(r.last)} AS last, r.outcome, r.reason
FROM hourbell_schedule AS s FORCE INDEX (PRIMARY)
STRAIGHT_JOIN hourbell_slot AS r FORCE INDEX (PRIMARY)
  ON r.id = (SELECT n.id FROM hourbell_slot AS n FORCE INDEX (hourbell_slot_schedule) WHERE n.schedule_id = s.id ORDER BY n.slot DESC, n.id DESC LIMIT 1 {share})
WHERE s.id IN (:ids)
{share}
