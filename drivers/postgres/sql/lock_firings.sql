-- Locks the schedules that are as the firings found them, in the order of
-- their numbers. IS TRUE keeps the index on next_at out of the plan: as the
-- inner side of a nested loop it would be walked once for each firing.
SELECT s.id
FROM unnest($2::bigint[], $3::bigint[], $4::timestamptz[], $5::timestamptz[]) AS f (id, revision, mark, next_at)
    JOIN {schema}.schedule AS s ON s.id = f.id
WHERE s.revision = f.revision AND s.mark = f.mark AND (s.next_at = f.next_at) IS TRUE
    AND (s.next_at <= coalesce($1::timestamptz, now())) IS TRUE
ORDER BY s.id
FOR UPDATE OF s
