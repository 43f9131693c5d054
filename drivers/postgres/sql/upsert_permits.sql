-- statement upsertPermits, takes limits nodes permits wants
-- Sets the permits that nodes hold.
INSERT INTO {schema}.node_permit (limit_id, node, permits, wants)
SELECT * FROM unnest(:limits::bigint[], :nodes::bigint[], :permits::integer[], :wants::integer[])
ON CONFLICT (limit_id, node) DO UPDATE SET permits = excluded.permits, wants = excluded.wants
