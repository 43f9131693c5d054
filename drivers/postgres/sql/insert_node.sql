-- Enters a node, alive as of now.
WITH entered AS (
    INSERT INTO {schema}.node (name, version, queues, kinds, lease, started_at, seen_at)
    SELECT $2::text, $3::text, $4::text[], $5::text[], $6::bigint * interval '1 microsecond', coalesce($1::timestamptz, now()), coalesce($1::timestamptz, now())
    RETURNING id, seen_at, lease
)
INSERT INTO {schema}.heartbeat (node, seen_at, lease) SELECT id, seen_at, lease FROM entered
RETURNING node, seen_at
