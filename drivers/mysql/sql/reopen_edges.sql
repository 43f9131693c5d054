-- shared statement reopenEdges
-- Opens edges again, also open edges, so that older notes no longer concern them.
UPDATE JSON_TABLE(:edges, '$[*]' COLUMNS (on_id BIGINT PATH '$.on_id', id BIGINT PATH '$.id', note BIGINT PATH '$.note')) AS o
STRAIGHT_JOIN hourbell_edge AS e FORCE INDEX (PRIMARY) ON e.on_id = o.on_id AND e.job_id = o.id
SET e.state = 0, e.since = greatest(coalesce(e.since, 0), o.note)
