-- statement updateEdges, takes on_ids ids states numbers
-- Decides open edges, if no later note has opened them again.
UPDATE {schema}.edge AS e SET state = o.state
FROM unnest(:on_ids::bigint[], :ids::bigint[], :states::smallint[], :numbers::bigint[]) AS o (on_id, job_id, state, note)
WHERE e.on_id = ANY (ARRAY[o.on_id]) AND e.job_id = ANY (ARRAY[o.job_id]) AND e.state = 0 AND (e.since IS NULL OR e.since < o.note)
