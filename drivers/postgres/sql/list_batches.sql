-- statement listBatches, takes ids before limit, returns id created_at finally_id finally_state state jobs
-- Batches, and how many of their jobs are in which state, without their last jobs: a row for
-- each state, or for a batch without jobs one row without a state.
SELECT b.id, b.created_at,
    CASE WHEN l.state IS NULL THEN 0 ELSE b.finally_id END AS finally_id, coalesce(l.state, 0) AS finally_state, c.state, coalesce(c.jobs, 0) AS jobs
FROM (
    SELECT id, created_at, finally_id FROM {schema}.batch
    WHERE (:ids::bigint[] IS NULL OR id = ANY (:ids)) AND (:before::bigint IS NULL OR id < :before)
    ORDER BY id DESC LIMIT :limit::bigint
) AS b
LEFT JOIN LATERAL (
    SELECT CASE WHEN running THEN 2 ELSE state END AS state FROM {schema}.job WHERE id = ANY (ARRAY[b.finally_id])
    UNION ALL
    SELECT state FROM {schema}.history WHERE id = ANY (ARRAY[b.finally_id])
) AS l ON true
LEFT JOIN LATERAL (
    SELECT x.state, count(*) AS jobs FROM (
        SELECT CASE WHEN running THEN 2 ELSE state END AS state FROM {schema}.job WHERE batch = b.id AND id IS DISTINCT FROM b.finally_id
        UNION ALL
        SELECT state FROM {schema}.history WHERE batch = b.id AND id IS DISTINCT FROM b.finally_id
    ) AS x GROUP BY x.state
) AS c ON true
ORDER BY b.id DESC
