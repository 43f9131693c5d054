-- Jobs, alive and finished, greatest number first. A condition that is null
-- does not count. :only_running: only running ones are asked for, so look only where
-- claims say they may be. :scheduled, :retrying: also scheduled and retrying jobs, by the rule of
-- store.JobInfo.
WITH found AS (
    (SELECT id, token, CASE WHEN running THEN 2 ELSE state END AS state, args, headers, attempt, origin, run_at, created_at, started_at,
        NULL::timestamptz AS finished_at, node, schedule_id, slot, '' AS reason, losses, snoozes, {spec}
    FROM {schema}.job
    WHERE (:ids::bigint[] IS NULL OR id = ANY (:ids))
        AND (:states::smallint[] IS NULL OR CASE WHEN running THEN 2 ELSE state END = ANY (:states)
            OR state = 0 AND NOT running AND attempt = 0 AND :scheduled::boolean AND run_at > coalesce(:now::timestamptz, now())
            OR state = 0 AND NOT running AND attempt > 0 AND :retrying::boolean)
        AND (:queue::text IS NULL OR queue = :queue)
        AND (:kind::text IS NULL OR kind = :kind)
        AND (:schedule::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = :schedule))
        AND (:before::bigint IS NULL OR id < :before)
        AND (:only_running::boolean IS NOT TRUE OR id = ANY (ARRAY(SELECT unnest(ids) FROM {schema}.lease)))
    ORDER BY id DESC LIMIT :limit::bigint)
    UNION ALL
    (SELECT id, token, state, args, headers, attempt, origin, run_at, created_at, started_at, finished_at, node, schedule_id, slot, reason,
        losses, snoozes, {spec}
    FROM {schema}.history
    WHERE (:ids::bigint[] IS NULL OR id = ANY (:ids))
        AND (:states::smallint[] IS NULL OR state = ANY (:states))
        AND (:queue::text IS NULL OR queue = :queue)
        AND (:kind::text IS NULL OR kind = :kind)
        AND (:schedule::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = :schedule))
        AND (:before::bigint IS NULL OR id < :before)
        AND :only_running::boolean IS NOT TRUE
    ORDER BY id DESC LIMIT :limit::bigint)
    ORDER BY id DESC LIMIT :limit::bigint
)
SELECT f.id, f.token, f.state, CASE WHEN :full::boolean THEN f.args END AS args, CASE WHEN :full::boolean THEN f.headers END AS headers, f.attempt,
    f.origin, f.run_at, f.created_at, f.started_at, f.finished_at, n.name AS node, f.schedule_id, s.name AS schedule_name, f.slot,
    f.state = 2 AND EXISTS (SELECT FROM {schema}.cancel_request AS c WHERE c.job_id = f.id) AS cancel_asked, f.reason, f.losses, coalesce(f.snoozes, 0) AS snoozes,
    {f.spec}
FROM found AS f LEFT JOIN {schema}.node AS n ON n.id = f.node LEFT JOIN {schema}.schedule AS s ON s.id = f.schedule_id
ORDER BY f.id DESC
