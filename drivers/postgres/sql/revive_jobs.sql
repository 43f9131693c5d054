-- statement reviveJobs, takes now ids most_ahead, returns id
-- Moves finished jobs back, ready now, with at least one more attempt, and returns
-- their numbers. None is due before a slot of its schedule that has fired ahead, by
-- :most_ahead microseconds at most. A job whose key another job of its kind has, or holds after its
-- end, stays where it is, and of several with one key the first is moved; a transaction that has
-- inserted a job with such a key is waited for. A schedule that follows may be put while the
-- caller's transaction is open, so that the end of a job of any schedule leaves a row in release.
-- The retry of a job with dependents leaves such a row too, with state 1.
WITH revived AS (
    INSERT INTO {schema}.job (attempt, id, run_at, created_at, started_at, slot, schedule_id, node, token, origin, args, headers, losses, snoozes, releases, max_attempts, {spec_fixed})
    SELECT h.attempt, h.id, greatest(coalesce(:now::timestamptz, now()), (
            SELECT s.mark FROM {schema}.schedule AS s
            WHERE s.id = h.schedule_id AND s.mark <= coalesce(:now::timestamptz, now()) + :most_ahead::bigint * interval '1 microsecond')),
        h.created_at, h.started_at, h.slot, h.schedule_id, h.node, h.token, h.origin, h.args, h.headers, h.losses, h.snoozes,
        h.releases OR h.schedule_id IS NOT NULL OR EXISTS (SELECT FROM {schema}.edge AS e WHERE e.on_id = h.id OFFSET 0),
        greatest(h.max_attempts, least(h.attempt + 1, 32767)), {h.spec_fixed}
    FROM unnest(:ids::bigint[]) WITH ORDINALITY AS o (id, place), LATERAL (SELECT * FROM {schema}.history WHERE id = o.id) AS h
    WHERE h.unique_key IS NULL OR NOT EXISTS (SELECT FROM {schema}.key_hold AS u
        WHERE u.kind = h.kind AND u.unique_key = h.unique_key AND u.job_id <> h.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
    ORDER BY o.place
    ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING
    RETURNING id
), retried AS (
    INSERT INTO {schema}.release (ids, ended_at, states, reasons)
    SELECT array_agg(id), coalesce(:now::timestamptz, now()), array_agg(1::smallint), array_agg(''::text) FROM revived
    WHERE EXISTS (SELECT FROM {schema}.edge AS e WHERE e.on_id = revived.id OFFSET 0) HAVING count(*) > 0
)
DELETE FROM {schema}.history AS h USING revived WHERE h.id = ANY (ARRAY[revived.id])
RETURNING h.id
