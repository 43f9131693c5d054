-- statement DeleteCalendarUses
-- Deletes the rows that say which calendars schedules name.
DELETE u FROM hourbell_schedule AS s FORCE INDEX (hourbell_schedule_name)
STRAIGHT_JOIN hourbell_calendar_use AS u FORCE INDEX (hourbell_calendar_use_schedule) ON u.schedule_id = s.id
WHERE s.name IN (:names)
