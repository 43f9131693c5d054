-- Moves finished jobs back, ready now, with at least one more attempt.
WITH revived AS (
    DELETE FROM {schema}.history WHERE id = ANY ($2::bigint[]) RETURNING *
)
INSERT INTO {schema}.job (attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args, headers)
SELECT attempt, id, coalesce($1::timestamptz, now()), created_at, started_at, slot, schedule_id, node, token, timeout_ns, priority, greatest(max_attempts, attempt + 1), on_loss, origin, queue, kind, args, headers FROM revived
