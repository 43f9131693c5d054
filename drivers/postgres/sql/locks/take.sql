-- Takes a lock if it is free and draws a token. No row: it is held, or a row is
-- missing, or the conditions of the slot ($5 to $7, or null) do not hold.
--
-- The state is read with the statement's snapshot, and written after the lock's
-- row. Should the token have moved in between, the null in its place fails the
-- statement, which then has changed nothing.
--
-- The server waits for those who hold the row no longer than the caller does
-- ($11): else it would take the lock when nobody knows of it any more. The
-- setting ends with the statement.
WITH taken AS (
    UPDATE {table} AS l
    SET lock_until = ({now $4} + $3::bigint * interval '1 millisecond'{until_up}){until_zone},
        locked_at = ({now $4}{at_down}){at_zone},
        locked_by = $2::text
    FROM {state} AS s
    WHERE l.name = $1::text AND l.name COLLATE "C" = $1::text AND l.lock_until{until_zone} <= {now $4}
      AND s.name = $1::text
      AND ($5::bigint IS NULL OR s.token = $5::bigint AND $6::timestamptz <= {now $4} AND {now $4} < $7::timestamptz)
      AND (SELECT set_config('lock_timeout', $11::text, true)) <> ''
    RETURNING true
)
UPDATE {state} AS s
SET token = CASE WHEN $5::bigint IS NULL OR s.token = $5::bigint THEN s.token + 1 END,
    slot = CASE WHEN $5::bigint IS NULL THEN s.slot ELSE $8::timestamptz END,
    anchor = CASE WHEN $5::bigint IS NULL THEN s.anchor ELSE $9::timestamptz END,
    step_ms = CASE WHEN $5::bigint IS NULL THEN s.step_ms ELSE $10::bigint END,
    granted_at = CASE WHEN $5::bigint IS NULL THEN s.granted_at ELSE {now $4} END
FROM taken
WHERE s.name = $1::text
RETURNING s.token
