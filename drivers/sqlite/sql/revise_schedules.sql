-- Gives the schedules that name one of the calendars a new revision. Deleted schedules do
-- not count.
UPDATE hourbell_schedule SET revision = :revision
WHERE id IN (SELECT u.schedule_id FROM hourbell_calendar_use AS u WHERE u.calendar IN (SELECT value FROM json_each(:names)))
  AND deleted_at IS NULL
