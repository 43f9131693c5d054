-- statement reopenEdges, takes on_ids ids numbers
-- Opens edges again, also open edges, so that older notes no longer concern them.
UPDATE {schema}.edge AS e SET state = 0, since = greatest(e.since, o.note)
FROM unnest(:on_ids::bigint[], :ids::bigint[], :numbers::bigint[]) AS o (on_id, job_id, note)
WHERE e.on_id = ANY (ARRAY[o.on_id]) AND e.job_id = ANY (ARRAY[o.job_id])
