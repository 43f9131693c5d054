-- shared statement updateEdges
-- Decides open edges, if no later note has opened them again.
UPDATE JSON_TABLE(:edges, '$[*]' COLUMNS (on_id BIGINT PATH '$.on_id', id BIGINT PATH '$.id', state TINYINT PATH '$.state', note BIGINT PATH '$.note')) AS o
STRAIGHT_JOIN hourbell_edge AS e FORCE INDEX (PRIMARY) ON e.on_id = o.on_id AND e.job_id = o.id
SET e.state = o.state
WHERE e.state = 0 AND (e.since IS NULL OR e.since < o.note)
