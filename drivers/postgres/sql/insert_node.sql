-- statement insertNode, takes now name version host labels queues kinds zones problems lease, returns node seen_at
-- Registers a node, which is alive from now on.
WITH entered AS (
    INSERT INTO {schema}.node (name, version, host, labels, queues, kinds, zones, problems, lease, started_at, seen_at)
    SELECT :name::text, :version::text, :host::text, :labels::text[], :queues::text[], :kinds::text[], :zones::text[], :problems::jsonb, :lease::bigint * interval '1 microsecond', coalesce(:now::timestamptz, now()), coalesce(:now::timestamptz, now())
    RETURNING id, seen_at, lease
)
INSERT INTO {schema}.heartbeat (node, seen_at, lease) SELECT id, seen_at, lease FROM entered
RETURNING node, seen_at
