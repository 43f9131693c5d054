-- Locks the living schedules that name one of the calendars, in the order of
-- their numbers, and says of each whether it is due, and its mark if slots up to
-- that may have fired ahead, which is :most_ahead microseconds at most.
SELECT id, (next_at <= coalesce(:now::timestamptz, now())) IS TRUE AS due,
    CASE WHEN mark > coalesce(:now::timestamptz, now())
        AND mark <= coalesce(:now::timestamptz, now()) + :most_ahead::bigint * interval '1 microsecond' THEN mark END AS fired_to
FROM {schema}.schedule
WHERE id = ANY (ARRAY(SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = ANY (:names::text[])))
    AND deleted_at IS NULL
ORDER BY id
FOR UPDATE
