-- Locks the living schedules that name one of the calendars, in the order of
-- their numbers, and says of each whether it is due, and its mark if slots up to
-- that may have fired ahead, which is $3 microseconds at most.
SELECT id, (next_at <= coalesce($1::timestamptz, now())) IS TRUE,
    CASE WHEN mark > coalesce($1::timestamptz, now())
        AND mark <= coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond' THEN mark END
FROM {schema}.schedule
WHERE id = ANY (ARRAY(SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = ANY ($2::text[])))
    AND deleted_at IS NULL
ORDER BY id
FOR UPDATE
