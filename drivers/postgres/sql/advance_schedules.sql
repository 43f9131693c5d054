-- statement advanceSchedules, takes now until ids revisions marks next_ats paused_ats new_marks new_next_ats fired ahead, returns id early releases
-- Moves mark and next_at of the schedules that are as their firings found them
-- and are due, or will be within :ahead microseconds, and returns their numbers, and
-- which of them are not due yet, and which have dependents; they stay locked. Firings come in the
-- order of these numbers. IS TRUE keeps the index on next_at out of the plan: as
-- the inner side of a nested loop it would be walked once for each firing.
UPDATE {schema}.schedule AS s SET mark = f.new_mark, next_at = f.new_next_at, fired = s.fired + f.jobs
FROM unnest(:ids::bigint[], :revisions::bigint[], :marks::timestamptz[], :next_ats::timestamptz[], :paused_ats::timestamptz[], :new_marks::timestamptz[], :new_next_ats::timestamptz[], :fired::bigint[])
    AS f (id, revision, mark, next_at, paused_at, new_mark, new_next_at, jobs)
WHERE s.id = f.id AND s.revision = f.revision AND s.mark = f.mark AND (s.next_at = f.next_at) IS TRUE
    AND greatest(s.paused_at, s.group_paused_at) IS NOT DISTINCT FROM f.paused_at
    AND (s.next_at <= coalesce(:now::timestamptz, now()) + :ahead::bigint * interval '1 microsecond') IS TRUE
    AND coalesce(:now::timestamptz, now()) <= coalesce(:until::timestamptz, 'infinity')
RETURNING s.id, f.next_at > coalesce(:now::timestamptz, now()) AS early, s.releases
