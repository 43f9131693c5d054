-- statement DeleteCalendarUses
-- Deletes the rows that say which calendars schedules name.
DELETE FROM hourbell_calendar_use
WHERE schedule_id IN (SELECT id FROM hourbell_schedule WHERE name IN (SELECT value FROM json_each(:names)))
