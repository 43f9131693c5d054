-- statement listEvents, given oldest, takes from_tx from_id limit, returns tx id at type subjects names slots counts reasons
-- statement listNewestEvents, given newest, takes from_tx from_id limit, returns tx id at type subjects names slots counts reasons
-- Rows of the feed whose transactions have ended, with all transactions before them: so no
-- row can be committed later that comes before one of these rows.
SELECT e.tx, e.id, e.at, e.type, e.subjects, CASE WHEN e.type >= 32 THEN ARRAY(
        SELECT coalesce(s.name, '') FROM unnest(e.subjects) WITH ORDINALITY AS u (id, place) LEFT JOIN {schema}.schedule AS s ON s.id = u.id ORDER BY u.place
    ) END AS names, e.slots, e.counts, e.reasons
FROM {schema}.event AS e
WHERE (e.tx, e.id) >= (:from_tx::bigint, :from_id::bigint) AND e.tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY e.tx, e.id LIMIT :limit::bigint                -- if oldest
ORDER BY e.tx DESC, e.id DESC LIMIT :limit::bigint      -- if newest
