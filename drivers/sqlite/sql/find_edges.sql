-- shared statement findEdges, returns on_id job_id delay on any_of at_end
-- shared statement findOpenEdges, given open, returns on_id job_id delay on any_of at_end
-- The edges on jobs, each from a dependent on; of one note ordered by dependent: the open edges
-- that notes of ends concern, or all edges.
SELECT o.value ->> 'on_id' AS on_id, e.job_id, e.delay, e."on", e.any_of, e.at_end
FROM jsonb_each(:notes) AS o CROSS JOIN hourbell_edge AS e ON e.on_id = o.value ->> 'on_id' AND e.job_id > o.value ->> 'done_to'
WHERE e.state = 0 AND (e.since IS NULL OR e.since < o.value ->> 'number')  -- if open
ORDER BY o.key, e.job_id LIMIT +:limit
