-- statement FindKeyHolders, returns kind unique_key id live
-- The keys of finished jobs that a live job of their kind has, or that another job holds
-- after its end, and that job. A live job comes last.
SELECT u.kind, u.unique_key, u.job_id AS id, 0 AS live
FROM hourbell_history AS h FORCE INDEX (PRIMARY)
STRAIGHT_JOIN hourbell_key_hold AS u ON u.kind = h.kind AND u.unique_key = h.unique_key AND u.until > {at(:now)}
WHERE h.id IN (:ids)
UNION ALL
SELECT r.unique_kind, r.unique_key, r.job_id, 1
FROM hourbell_history AS h FORCE INDEX (PRIMARY)
STRAIGHT_JOIN hourbell_job_rare AS r ON r.unique_kind = h.kind AND r.unique_key = h.unique_key
WHERE h.id IN (:ids)
ORDER BY live
