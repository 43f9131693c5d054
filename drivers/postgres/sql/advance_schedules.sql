-- Moves mark and next_at of the schedules that are as their firings found them
-- and are due, or will be within $11 microseconds, and returns their numbers, and
-- which of them are not due yet; they stay locked. Firings come in the
-- order of these numbers. IS TRUE keeps the index on next_at out of the plan: as
-- the inner side of a nested loop it would be walked once for each firing.
UPDATE {schema}.schedule AS s SET mark = f.new_mark, next_at = f.new_next_at, fired = s.fired + f.jobs
FROM unnest($3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::bigint[])
    AS f (id, revision, mark, next_at, paused_at, new_mark, new_next_at, jobs)
WHERE s.id = f.id AND s.revision = f.revision AND s.mark = f.mark AND (s.next_at = f.next_at) IS TRUE
    AND s.paused_at IS NOT DISTINCT FROM f.paused_at
    AND (s.next_at <= coalesce($1::timestamptz, now()) + $11::bigint * interval '1 microsecond') IS TRUE
    AND coalesce($1::timestamptz, now()) <= coalesce($2::timestamptz, 'infinity')
RETURNING s.id, f.next_at > coalesce($1::timestamptz, now())
