-- shared statement upsertPermits
-- Sets the permits that nodes hold.
INSERT INTO hourbell_node_permit (limit_id, node, permits, wants)
SELECT value ->> 'limit', value ->> 'node', value ->> 'permits', value ->> 'wants' FROM json_each(:rows) WHERE true
ON CONFLICT (limit_id, node) DO UPDATE SET permits = excluded.permits, wants = excluded.wants
