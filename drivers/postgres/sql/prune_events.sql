-- statement pruneEvents, takes now limit, returns deleted seen
-- Deletes the oldest rows of the feed, and remembers the last of them.
WITH gone AS (
    DELETE FROM {schema}.event
    WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM (SELECT ctid, at FROM {schema}.event ORDER BY tx, id LIMIT :limit::bigint) AS o CROSS JOIN {schema}.feed AS f
        WHERE o.at < coalesce(:now::timestamptz, now()) - f.keep_us * interval '1 microsecond'))
    RETURNING tx, id
), noted AS (
    UPDATE {schema}.feed AS f SET gone_tx = g.tx, gone_id = g.id
    FROM (SELECT tx, id FROM gone ORDER BY tx DESC, id DESC LIMIT 1) AS g
    WHERE (f.gone_tx, f.gone_id) < (g.tx, g.id) OR f.gone_tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
