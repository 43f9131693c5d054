-- statement insertSlots, takes now schedules slots lasts counts outcomes reasons
-- Records slots that make no job.
INSERT INTO {schema}.slot (recorded_at, schedule_id, slot, last, count, outcome, reason)
SELECT coalesce(:now::timestamptz, now()), new.*
FROM unnest(:schedules::bigint[], :slots::timestamptz[], :lasts::timestamptz[], :counts::bigint[], :outcomes::smallint[], :reasons::text[]) AS new
