-- Decides open edges.
UPDATE {schema}.edge AS e SET state = o.state
FROM unnest(:on_ids::bigint[], :ids::bigint[], :states::smallint[]) AS o (on_id, job_id, state)
WHERE e.on_id = ANY (ARRAY[o.on_id]) AND e.job_id = ANY (ARRAY[o.job_id]) AND e.state = 0
