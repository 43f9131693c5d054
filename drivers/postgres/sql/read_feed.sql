-- statement readFeed, returns keep_us gone_tx gone_id next_tx held
-- For how long events are kept, the last row that was deleted, the number of the next
-- transaction, and since when stored events are not shown. A row of a later transaction is
-- from another server, whose data were copied here.
SELECT f.keep_us, CASE WHEN f.gone_tx < n.next THEN f.gone_tx ELSE 0 END AS gone_tx, CASE WHEN f.gone_tx < n.next THEN f.gone_id ELSE 0 END AS gone_id,
    n.next AS next_tx, (SELECT min(e.at) FROM {schema}.event AS e WHERE e.tx >= n.least AND e.tx < n.next) AS held
FROM {schema}.feed AS f CROSS JOIN (
    SELECT pg_snapshot_xmin(s)::text::bigint AS least, pg_snapshot_xmax(s)::text::bigint AS next FROM pg_current_snapshot() AS s
) AS n
