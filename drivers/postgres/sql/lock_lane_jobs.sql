-- statement findLaneJobs, takes now lanes most, returns laneJobColumns
-- statement lockLaneJobs, given lock, takes now lanes most, returns laneJobColumns
-- The first jobs that wait in lanes and are not paused, of each lane as many as :most has in its place. With locks, jobs that others have locked are left.
SELECT w.id, w.lane, w.state = -3 AS first, w.run_at, w.queue, w.kind, coalesce(w.job_key, '') AS job_key, w.priority
FROM unnest(:lanes::bigint[], :most::bigint[]) AS o (lane, most), LATERAL (
    SELECT j.id, j.lane, j.state, j.run_at, j.queue, j.kind, j.job_key, j.priority FROM {schema}.job AS j
    WHERE j.lane = o.lane AND NOT EXISTS (SELECT FROM {schema}.pause AS p
        WHERE {concerns(p.subject, p.name, j)} AND coalesce(p.until > coalesce(:now::timestamptz, now()), true))
    ORDER BY j.priority, j.state, j.run_at, j.id LIMIT o.most
    FOR UPDATE SKIP LOCKED -- if lock
) AS w
