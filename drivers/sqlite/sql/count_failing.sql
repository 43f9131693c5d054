-- statement CountFailing
-- Records how many jobs in a row failed, of schedules that are failing.
UPDATE hourbell_failing AS f SET failures = o.failures
FROM (SELECT value ->> 'id' AS id, value ->> 'failures' AS failures FROM jsonb_each(:failing)) AS o
WHERE f.schedule_id = o.id
