-- The schedules that are as their early firings found them and have a job that
-- lives, backfilled ones aside.
SELECT s.id
FROM unnest($4::bigint[], $5::bigint[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[]) AS f (id, revision, mark, next_at, paused_at)
JOIN {schema}.schedule AS s ON s.id = f.id
WHERE s.revision = f.revision AND s.mark = f.mark AND (s.next_at = f.next_at) IS TRUE AND s.paused_at IS NOT DISTINCT FROM f.paused_at
    AND f.next_at > coalesce($1::timestamptz, now())
    AND f.next_at <= coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond'
    AND coalesce($1::timestamptz, now()) <= coalesce($2::timestamptz, 'infinity')
    AND EXISTS (SELECT FROM {schema}.job AS j WHERE j.schedule_id = f.id AND j.origin <> 3)
