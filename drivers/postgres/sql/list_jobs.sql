-- Jobs, alive and finished, greatest number first. A condition that is null
-- does not count. $8: only running ones are asked for, so look only where
-- claims say they may be. $10, $11: also scheduled and retrying jobs, by the rule of
-- store.JobInfo.
WITH found AS (
    (SELECT id, token, kind, queue, CASE WHEN running THEN 2 ELSE state END AS state, args, headers, priority, attempt, max_attempts, on_loss,
        origin, timeout_ns, run_at, created_at, started_at, NULL::timestamptz AS finished_at, node, schedule_id, slot, '' AS reason,
        unique_key, losses
    FROM {schema}.job
    WHERE ($1::bigint[] IS NULL OR id = ANY ($1))
        AND ($2::smallint[] IS NULL OR CASE WHEN running THEN 2 ELSE state END = ANY ($2)
            OR state = 0 AND NOT running AND attempt = 0 AND $10::boolean AND run_at > coalesce($12::timestamptz, now())
            OR state = 0 AND NOT running AND attempt > 0 AND $11::boolean)
        AND ($3::text IS NULL OR queue = $3)
        AND ($4::text IS NULL OR kind = $4)
        AND ($5::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = $5))
        AND ($6::bigint IS NULL OR id < $6)
        AND ($8::boolean IS NOT TRUE OR id = ANY (ARRAY(SELECT unnest(ids) FROM {schema}.lease)))
    ORDER BY id DESC LIMIT $7::bigint)
    UNION ALL
    (SELECT id, token, kind, queue, state, args, headers, priority, attempt, max_attempts, on_loss,
        origin, timeout_ns, run_at, created_at, started_at, finished_at, node, schedule_id, slot, reason,
        unique_key, losses
    FROM {schema}.history
    WHERE ($1::bigint[] IS NULL OR id = ANY ($1))
        AND ($2::smallint[] IS NULL OR state = ANY ($2))
        AND ($3::text IS NULL OR queue = $3)
        AND ($4::text IS NULL OR kind = $4)
        AND ($5::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = $5))
        AND ($6::bigint IS NULL OR id < $6)
        AND $8::boolean IS NOT TRUE
    ORDER BY id DESC LIMIT $7::bigint)
    ORDER BY id DESC LIMIT $7::bigint
)
SELECT f.id, f.token, f.kind, f.queue, f.state, CASE WHEN $9::boolean THEN f.args END, CASE WHEN $9::boolean THEN f.headers END, f.priority, f.attempt,
    f.max_attempts, f.on_loss, f.origin, f.timeout_ns, f.run_at, f.created_at, f.started_at, f.finished_at, n.name, f.schedule_id, s.name, f.slot,
    f.state = 2 AND EXISTS (SELECT FROM {schema}.cancel_request AS c WHERE c.job_id = f.id), f.reason,
    f.unique_key, f.losses
FROM found AS f LEFT JOIN {schema}.node AS n ON n.id = f.node LEFT JOIN {schema}.schedule AS s ON s.id = f.schedule_id
ORDER BY f.id DESC
