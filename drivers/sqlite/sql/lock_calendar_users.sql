-- The schedules that name one of the calendars, and whether each is due. Deleted schedules
-- do not count.
SELECT s.name, coalesce(s.next_at <= :now, 0) AS due
FROM hourbell_schedule AS s
WHERE s.id IN (SELECT u.schedule_id FROM hourbell_calendar_use AS u WHERE u.calendar IN (SELECT value FROM json_each(:names)))
  AND s.deleted_at IS NULL
