-- statement FindNewestSlots, returns schedule_id id slot last outcome reason
-- The newest record of each schedule.
SELECT r.schedule_id, r.id, r.slot, r.last, r.outcome, r.reason
FROM json_each(:ids) AS o
CROSS JOIN hourbell_slot AS r
  ON r.id = (SELECT n.id FROM hourbell_slot AS n WHERE n.schedule_id = o.value ORDER BY n.slot DESC, n.id DESC LIMIT 1)
