-- statement updateNode, takes now node version host labels queues kinds zones problems lease, returns id seen_at
-- Continues the registration of a node, and extends its lease; no row: the node
-- has no lease.
WITH beat AS (
    UPDATE {schema}.heartbeat
    SET seen_at = coalesce(:now::timestamptz, now()), lease = :lease::bigint * interval '1 microsecond', beats = beats + 1
    WHERE node = :node::bigint
    RETURNING node, seen_at, lease
)
UPDATE {schema}.node AS n
SET version = :version::text, host = :host::text, labels = :labels::text[], queues = :queues::text[], kinds = :kinds::text[], zones = :zones::text[], problems = :problems::jsonb, lease = b.lease
FROM beat AS b WHERE n.id = b.node
RETURNING n.id, b.seen_at
