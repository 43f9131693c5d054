-- statement requestCancels, takes now ids nodes reason
-- Asks the nodes of running jobs, which are locked, to cancel them.
INSERT INTO {schema}.cancel_request (job_id, node, asked_at, reason)
SELECT o.id, o.node, coalesce(:now::timestamptz, now()), :reason::text FROM unnest(:ids::bigint[], :nodes::bigint[]) AS o (id, node)
ON CONFLICT (job_id) DO NOTHING
