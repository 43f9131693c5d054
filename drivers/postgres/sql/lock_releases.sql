-- statement lockReleases, takes after_id rows limit, returns id number place last done_to ended_at on_id state reason schedule_id held
-- Locks rows of notes of ended jobs, the oldest first, and returns the notes that are not
-- carried out yet, row by row and in the order of their places. The size is computed once
-- for each row, because it reads the array. An end is held if an older note of a retry of its
-- job is not carried out; there are few of these, so that all of their jobs are read once.
SELECT r.id, coalesce(r.first_id, r.id) AS number, o.place - 1 AS place, o.place = r.size AS last,
    CASE WHEN o.place = r.place + 1 THEN r.done_to ELSE 0 END AS done_to, r.ended_at,
    o.on_id, o.state, o.reason, coalesce(o.schedule_id, 0) AS schedule_id,
    o.state <> 1 AND CASE WHEN o.on_id IN (SELECT unnest(x.ids) FROM {schema}.release AS x WHERE x.states[1] = 1) THEN EXISTS (
        SELECT FROM {schema}.release AS x
        WHERE x.states[1] = 1 AND coalesce(x.first_id, x.id) < coalesce(r.first_id, r.id) AND o.on_id = ANY (x.ids)
    ) ELSE false END AS held
FROM (
    SELECT id, first_id, ids, states, reasons, schedules, place, done_to, ended_at, cardinality(ids) AS size FROM {schema}.release WHERE id > :after_id::bigint
    ORDER BY id LIMIT :rows::bigint FOR UPDATE SKIP LOCKED
) AS r CROSS JOIN LATERAL unnest(r.ids, r.states, r.reasons, r.schedules) WITH ORDINALITY AS o (on_id, state, reason, schedule_id, place)
WHERE o.place > r.place
LIMIT :limit::bigint
