-- Schedules that fail as before, with another number of failures.
UPDATE hourbell_failing AS f SET failures = o.failures
FROM (SELECT value ->> 'id' AS id, value ->> 'failures' AS failures FROM jsonb_each(:failing)) AS o
WHERE f.schedule_id = o.id
