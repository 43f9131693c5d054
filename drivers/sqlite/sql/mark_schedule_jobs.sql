-- statement MarkScheduleJobs
-- Lets the ends of live jobs of such schedules leave rows in hourbell_release.
UPDATE hourbell_job SET releases = 1
WHERE releases = 0 AND schedule_id IN (
  SELECT s.id FROM hourbell_schedule AS s WHERE s.name IN (SELECT value FROM json_each(:names)) AND s.releases = 1
  UNION ALL
  SELECT s.id FROM json_each(:names) AS o CROSS JOIN hourbell_schedule AS s ON s.name >= o.value || '@' AND s.name < o.value || 'A' AND s.owner IN (SELECT value FROM json_each(:owners))
  WHERE s.releases = 1)
