-- How many living schedules name one of the calendars, how many of them are due,
-- and up to when they may have fired ahead.
SELECT count(*) AS users, coalesce(sum(s.next_at <= :now), 0) AS due, max(s.mark) FILTER (WHERE s.mark > :now AND s.mark <= :most) AS fired_to
FROM hourbell_schedule AS s
WHERE s.id IN (SELECT u.schedule_id FROM hourbell_calendar_use AS u WHERE u.calendar IN (SELECT value FROM json_each(:names)))
  AND s.deleted_at IS NULL
