-- statement MarkPredecessors
-- Lets the ends of jobs of schedules, and of schedules of hosts that are made from them, leave rows in hourbell_release, if a
-- schedule follows them.
UPDATE hourbell_schedule SET releases = 1
WHERE releases = 0
  AND id IN (
    SELECT s.id FROM hourbell_schedule AS s WHERE s.name IN (SELECT value FROM json_each(:names))
    UNION ALL
    SELECT s.id FROM json_each(:names) AS o CROSS JOIN hourbell_schedule AS s ON s.name >= o.value || '@' AND s.name < o.value || 'A' AND s.owner IN (SELECT value FROM json_each(:owners)))
  AND EXISTS (SELECT 1 FROM hourbell_chain AS c WHERE c.predecessor IN (name, CASE WHEN substr(owner, 1, 6) = 'every:' THEN substr(owner, 7) END))
