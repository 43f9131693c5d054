-- Locks rows of notes of ended jobs, the oldest first, and returns the notes that are not
-- carried out yet, row by row and in the order of their places. The size is computed once
-- for each row, because it reads the array.
SELECT r.id, o.place - 1 AS place, o.place = r.size AS last, CASE WHEN o.place = r.place + 1 THEN r.done_to ELSE 0 END AS done_to, r.ended_at,
    o.on_id, o.state, o.reason, coalesce(o.schedule_id, 0) AS schedule_id
FROM (
    SELECT id, ids, states, reasons, schedules, place, done_to, ended_at, cardinality(ids) AS size FROM {schema}.release WHERE id > :after_id::bigint
    ORDER BY id LIMIT :rows::bigint FOR UPDATE SKIP LOCKED
) AS r CROSS JOIN LATERAL unnest(r.ids, r.states, r.reasons, r.schedules) WITH ORDINALITY AS o (on_id, state, reason, schedule_id, place)
WHERE o.place > r.place
LIMIT :limit::bigint
