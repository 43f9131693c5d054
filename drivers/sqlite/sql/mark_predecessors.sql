-- Lets the ends of jobs of schedules leave rows in hourbell_release, if a schedule follows
-- them.
UPDATE hourbell_schedule SET releases = 1
WHERE releases = 0 AND name IN (SELECT value FROM json_each(:names))
  AND EXISTS (SELECT 1 FROM hourbell_chain AS c WHERE c.predecessor = name)
