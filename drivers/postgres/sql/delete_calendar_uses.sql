-- Forgets which calendars schedules name.
DELETE FROM {schema}.calendar_use WHERE schedule_id = ANY (:schedules::bigint[])
