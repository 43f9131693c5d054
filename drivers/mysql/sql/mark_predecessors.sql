-- statement MarkPredecessors
-- Lets the ends of jobs of schedules, and of schedules of hosts that are made from them, leave rows in hourbell_release, if a
-- schedule follows them.
UPDATE (
  SELECT a.id FROM hourbell_schedule AS a FORCE INDEX (hourbell_schedule_name) WHERE a.name IN (:names)
  UNION SELECT b.id FROM hourbell_schedule AS b FORCE INDEX (hourbell_schedule_owner) WHERE b.owner IN (:owners)
) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = o.id
SET s.releases = 1
WHERE s.releases = 0
  AND EXISTS (SELECT 1 FROM hourbell_chain AS c WHERE c.predecessor IN (s.name, CASE WHEN left(s.owner, 6) = _utf8mb4'every:' THEN substr(s.owner, 7) END))
