-- How many living schedules name one of the calendars, and are due or not.
SELECT count(*), coalesce(sum(s.next_at <= :now), 0)
FROM hourbell_schedule AS s
WHERE s.id IN (SELECT u.schedule_id FROM hourbell_calendar_use AS u WHERE u.calendar IN (SELECT value FROM json_each(:names)))
  AND s.deleted_at IS NULL
