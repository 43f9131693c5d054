-- Moves finished jobs back, ready now, with at least one more attempt. None is due
-- before a slot of its schedule that has fired ahead, by $3 microseconds at most.
WITH revived AS (
    DELETE FROM {schema}.history WHERE id = ANY ($2::bigint[]) RETURNING *
)
INSERT INTO {schema}.job (attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args, headers)
SELECT attempt, id, greatest(coalesce($1::timestamptz, now()), (
        SELECT s.mark FROM {schema}.schedule AS s
        WHERE s.id = revived.schedule_id AND s.mark <= coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond')),
    created_at, started_at, slot, schedule_id, node, token, timeout_ns, priority, greatest(max_attempts, attempt + 1), on_loss, origin, queue, kind, args, headers FROM revived
