-- statement FindScheduleRelease, returns found
-- Whether an end of a job of one of these schedules, or of one of their predecessors, is
-- not passed on.
SELECT EXISTS (
  SELECT 1 FROM hourbell_release AS r CROSS JOIN hourbell_schedule AS p ON p.id = r.schedule_id
  WHERE p.name IN (SELECT value FROM json_each(:names))
     OR EXISTS (
       SELECT 1 FROM hourbell_chain AS c CROSS JOIN hourbell_schedule AS d ON d.id = c.schedule_id
       WHERE c.predecessor IN (p.name, CASE WHEN substr(p.owner, 1, 6) = 'every:' THEN substr(p.owner, 7) END) AND d.name IN (SELECT value FROM json_each(:names)))) AS found
