-- Asks the nodes of running jobs, which are locked, to cancel them.
INSERT INTO {schema}.cancel_request (job_id, node, asked_at, reason)
SELECT o.id, o.node, coalesce($1::timestamptz, now()), $4::text FROM unnest($2::bigint[], $3::bigint[]) AS o (id, node)
ON CONFLICT (job_id) DO NOTHING
