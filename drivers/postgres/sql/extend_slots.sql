-- Prolongs records.
UPDATE {schema}.slot AS s SET last = u.last, count = u.count, recorded_at = coalesce($1::timestamptz, now())
FROM unnest($2::bigint[], $3::timestamptz[], $4::bigint[], $5::timestamptz[], $6::bigint[]) AS u (schedule_id, slot, id, last, count)
WHERE s.schedule_id = u.schedule_id AND s.slot = u.slot AND s.id = u.id
