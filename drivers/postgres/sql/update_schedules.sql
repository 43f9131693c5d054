-- Writes back schedules, which are locked.
UPDATE {schema}.schedule AS s
SET owner = u.owner, revision = u.revision, definition = u.definition, anchor = u.anchor, mark = u.mark, next_at = u.next_at,
    paused_at = u.paused_at, paused_until = u.paused_until, paused_declared = u.paused_declared, updated_at = u.updated_at, deleted_at = u.deleted_at
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[],
    $9::boolean[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[])
    AS u (id, owner, revision, definition, anchor, mark, next_at, paused_at, paused_declared, updated_at, deleted_at, paused_until)
WHERE s.id = u.id
