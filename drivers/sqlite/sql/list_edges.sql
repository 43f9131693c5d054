-- shared statement listEdges, returns job_id on_id delay on state
-- What jobs wait or waited for.
SELECT e.job_id, e.on_id, e.delay, e."on", e.state
FROM json_each(:ids) AS o CROSS JOIN hourbell_edge AS e ON e.job_id = o.value
ORDER BY e.job_id, e.on_id
