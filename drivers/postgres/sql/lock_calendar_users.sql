-- Locks the living schedules that name one of the calendars, in the order of
-- their numbers, and says of each whether it is due.
SELECT id, (next_at <= coalesce($1::timestamptz, now())) IS TRUE
FROM {schema}.schedule
WHERE id = ANY (ARRAY(SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = ANY ($2::text[])))
    AND deleted_at IS NULL
ORDER BY id
FOR UPDATE
