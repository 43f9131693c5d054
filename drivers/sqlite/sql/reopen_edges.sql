-- shared statement reopenEdges
-- Opens edges again, also open edges, so that older notes no longer concern them.
UPDATE hourbell_edge AS e SET state = 0, since = max(coalesce(e.since, 0), o.value ->> 'note')
FROM jsonb_each(:edges) AS o
WHERE e.on_id = o.value ->> 'on_id' AND e.job_id = o.value ->> 'id'
