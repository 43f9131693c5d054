-- statement lockCalendarUsers, takes now names, returns id name due
-- Locks the schedules that name one of the calendars, in the order of their numbers, and
-- returns whether each is due. Deleted schedules do not count.
SELECT id, name, (next_at <= coalesce(:now::timestamptz, now())) IS TRUE AS due
FROM {schema}.schedule
WHERE id = ANY (ARRAY(SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = ANY (:names::text[])))
    AND deleted_at IS NULL
ORDER BY id
FOR UPDATE
