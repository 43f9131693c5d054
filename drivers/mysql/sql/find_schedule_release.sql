-- statement FindScheduleRelease, returns found
-- Whether an end of a job of one of these schedules, or of one of their predecessors, is
-- not passed on.
SELECT EXISTS (
  SELECT 1 FROM hourbell_release AS r STRAIGHT_JOIN hourbell_schedule AS p FORCE INDEX (PRIMARY) ON p.id = r.schedule_id
  WHERE r.schedule_id IS NOT NULL AND (p.name IN (:names)
     OR EXISTS (
       SELECT 1 FROM hourbell_chain AS c STRAIGHT_JOIN hourbell_schedule AS d FORCE INDEX (PRIMARY) ON d.id = c.schedule_id
       WHERE c.predecessor IN (p.name, CASE WHEN left(p.owner, 6) = _utf8mb4'every:' THEN substr(p.owner, 7) END) AND d.name IN (:names)))
  {share}) AS found
