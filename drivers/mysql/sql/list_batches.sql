-- shared statement listBatches, returns id created_at finally_id finally_state state jobs, a listing
-- Batches, and how many of their jobs are in which state, without their last jobs: rows for
-- the states, and for each batch one row or more without a state.
WITH page AS (
  SELECT b.id, b.created_at, CASE WHEN l.state IS NULL THEN h.state ELSE l.state END AS last_state, b.finally_id
  FROM hourbell_batch AS b LEFT JOIN hourbell_job AS l ON l.id = b.finally_id LEFT JOIN hourbell_history AS h ON h.id = b.finally_id
  WHERE b.id < :before
    AND b.id IN (:ids) -- if ids
  ORDER BY b.id DESC LIMIT :limit
)
SELECT p.id, {micros(p.created_at)} AS created_at, CASE WHEN p.last_state IS NULL THEN 0 ELSE p.finally_id END AS finally_id, coalesce(p.last_state, 0) AS finally_state, c.state, c.jobs
FROM page AS p STRAIGHT_JOIN (
  SELECT q.id AS batch, j.state, count(j.state) AS jobs
  FROM page AS q LEFT JOIN hourbell_job_rare AS j ON j.batch = q.id AND NOT j.job_id <=> q.finally_id GROUP BY q.id, j.state
  UNION ALL
  SELECT q.id, h.state, count(*)
  FROM page AS q STRAIGHT_JOIN hourbell_history AS h ON h.batch = q.id AND NOT h.id <=> q.finally_id GROUP BY q.id, h.state
) AS c ON c.batch = p.id
ORDER BY p.id DESC
