-- statement findPredecessors, returns id state ended_at reason
-- Jobs by number: live jobs, and how finished jobs ended.
SELECT j.id, 0 AS state, NULL AS ended_at, '' AS reason
FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value
UNION ALL
SELECT h.id, h.state, h.finished_at, h.reason
FROM json_each(:ids) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value
