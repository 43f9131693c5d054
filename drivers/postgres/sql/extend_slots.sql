-- statement extendSlots, takes now schedules slots ids lasts counts
-- Extends records of slots.
UPDATE {schema}.slot AS s SET last = u.last, count = u.count, recorded_at = coalesce(:now::timestamptz, now())
FROM unnest(:schedules::bigint[], :slots::timestamptz[], :ids::bigint[], :lasts::timestamptz[], :counts::bigint[]) AS u (schedule_id, slot, id, last, count)
WHERE s.schedule_id = u.schedule_id AND s.slot = u.slot AND s.id = u.id
