-- Creates schedules. A name that is missing in the answer was created concurrently.
INSERT INTO {schema}.schedule (name, owner, revision, definition, anchor, mark, next_at, paused_at, paused_declared, created_at, updated_at)
SELECT new.name, $2::text, 1, new.definition, $1::timestamptz, $1::timestamptz, $1::timestamptz,
    CASE WHEN new.paused THEN $1::timestamptz END, new.paused, $1::timestamptz, $1::timestamptz
FROM unnest($3::text[], $4::text[], $5::boolean[]) AS new (name, definition, paused)
ON CONFLICT (name) DO NOTHING
RETURNING id
