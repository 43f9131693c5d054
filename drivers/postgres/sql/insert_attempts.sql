-- Records the errors, traces and outputs of attempts, once for each claim. The jobs are
-- locked.
INSERT INTO {schema}.attempt (job_id, token, node, started_at, finished_at, attempt, error, trace, output)
SELECT j.id, j.token, j.node, j.started_at, coalesce(:now::timestamptz, now()), j.attempt, o.error, o.trace, o.output
FROM unnest(:ids::bigint[], :errors::text[], :traces::text[], :outputs::bytea[]) AS o (id, error, trace, output) JOIN {schema}.job AS j ON j.id = ANY (ARRAY[o.id])
ON CONFLICT DO NOTHING
