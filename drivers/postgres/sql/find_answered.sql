-- statement findAnswered, takes ids names, returns id
-- The jobs, which are locked, whose steps are not open any more.
SELECT s.job_id AS id FROM unnest(:ids::bigint[], :names::text[]) AS o (id, name)
JOIN {schema}.step AS s ON s.job_id = ANY (ARRAY[o.id]) AND s.name = o.name
WHERE NOT s.waits
