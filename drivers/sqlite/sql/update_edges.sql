-- shared statement updateEdges
-- Decides edges.
UPDATE hourbell_edge AS e SET state = o.value ->> 'state'
FROM jsonb_each(:edges) AS o
WHERE e.on_id = o.value ->> 'on_id' AND e.job_id = o.value ->> 'id'
