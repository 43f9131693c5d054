-- statement findBusySchedules, takes now until ahead ids revisions marks next_ats paused_ats, returns id
-- The schedules whose rows still equal their early firings and that have a live job other
-- than backfilled jobs.
SELECT s.id
FROM unnest(:ids::bigint[], :revisions::bigint[], :marks::timestamptz[], :next_ats::timestamptz[], :paused_ats::timestamptz[]) AS f (id, revision, mark, next_at, paused_at)
JOIN {schema}.schedule AS s ON s.id = f.id
WHERE s.revision = f.revision AND s.mark = f.mark AND (s.next_at = f.next_at) IS TRUE AND greatest(s.paused_at, s.group_paused_at) IS NOT DISTINCT FROM f.paused_at
    AND f.next_at > coalesce(:now::timestamptz, now())
    AND f.next_at <= coalesce(:now::timestamptz, now()) + :ahead::bigint * interval '1 microsecond'
    AND coalesce(:now::timestamptz, now()) <= coalesce(:until::timestamptz, 'infinity')
    AND EXISTS (SELECT FROM {schema}.job AS j WHERE j.schedule_id = f.id AND j.origin NOT {backfill})
