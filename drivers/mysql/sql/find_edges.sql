-- shared statement findEdges, returns on_id job_id delay on any_of at_end
-- shared statement findOpenEdges, given open, returns on_id job_id delay on any_of at_end
-- The edges on jobs, each from a dependent on; of one note ordered by dependent: the open edges
-- that notes of ends concern, or all edges.
SELECT e.on_id, e.job_id, e.delay, e.`on`, e.any_of, e.at_end
FROM (
  SELECT * FROM JSON_TABLE(:notes, '$[*]' COLUMNS (place FOR ORDINALITY, on_id BIGINT PATH '$.on_id', done_to BIGINT PATH '$.done_to', number BIGINT PATH '$.number')) AS n
) AS o STRAIGHT_JOIN hourbell_edge AS e FORCE INDEX (PRIMARY) ON e.on_id = o.on_id AND e.job_id > o.done_to
WHERE e.state = 0 AND (e.since IS NULL OR e.since < o.number)  -- if open
ORDER BY o.place, e.job_id LIMIT :limit
{share}
