-- Moves mark and next_at of schedules, which are locked.
UPDATE {schema}.schedule AS s SET mark = u.mark, next_at = u.next_at, fired = s.fired + u.fired
FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::bigint[]) AS u (id, mark, next_at, fired)
WHERE s.id = u.id
