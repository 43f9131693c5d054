-- statement updateNext, takes ids next_ats
-- Sets when schedules, which are locked, are due.
UPDATE {schema}.schedule AS s SET next_at = o.next_at
FROM unnest(:ids::bigint[], :next_ats::timestamptz[]) AS o (id, next_at)
WHERE s.id = o.id
