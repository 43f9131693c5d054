-- shared statement listEdges, returns job_id on_id delay on state
-- What jobs wait or waited for.
SELECT e.job_id, e.on_id, e.delay, e.`on`, e.state
FROM hourbell_edge AS e FORCE INDEX (hourbell_edge_job) WHERE e.job_id IN (:ids)
ORDER BY e.job_id, e.on_id
