-- statement forgetSteps, takes ids names
-- Deletes steps of jobs, by their names.
DELETE FROM {schema}.step AS s USING unnest(:ids::bigint[], :names::text[]) AS o (id, name)
WHERE s.job_id = o.id AND s.name = o.name
