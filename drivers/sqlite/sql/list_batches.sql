-- shared statement listBatches, returns id created_at finally_id finally_state state jobs, a listing
-- Batches, and how many of their jobs are in which state, without their last jobs: rows for
-- the states, and for each batch one row or more without a state.
WITH page AS (
  SELECT b.id, b.created_at, CASE WHEN l.state IS NULL THEN h.state ELSE l.state END AS last_state, b.finally_id
  FROM hourbell_batch AS b LEFT JOIN hourbell_job AS l ON l.id = b.finally_id LEFT JOIN hourbell_history AS h ON h.id = b.finally_id
  WHERE b.id < :before
    AND b.id IN (SELECT value FROM json_each(:ids)) -- if ids
  ORDER BY b.id DESC LIMIT +:limit
)
SELECT p.id, p.created_at, CASE WHEN p.last_state IS NULL THEN 0 ELSE p.finally_id END AS finally_id, coalesce(p.last_state, 0) AS finally_state, j.state, count(j.state) AS jobs
FROM page AS p LEFT JOIN hourbell_job AS j ON j.batch = p.id AND j.id IS NOT p.finally_id GROUP BY p.id, j.state
UNION ALL
SELECT p.id, p.created_at, CASE WHEN p.last_state IS NULL THEN 0 ELSE p.finally_id END, coalesce(p.last_state, 0), h.state, count(*)
FROM page AS p CROSS JOIN hourbell_history AS h ON h.batch = p.id AND h.id IS NOT p.finally_id GROUP BY p.id, h.state
ORDER BY 1 DESC
