-- statement deleteCalendarUses, takes schedules
-- Deletes the rows that say which calendars schedules name.
DELETE FROM {schema}.calendar_use WHERE schedule_id = ANY (:schedules::bigint[])
