-- Takes a lock if it is free and the conditions of the slot ($5 to $7) hold, draws a
-- token and records the slot. No row: the lock is held, or a row is missing, or a
-- condition does not hold. See take.
--
-- The state is read with the statement's snapshot, and written after the lock's
-- row. If the token has changed in between, the null in its place fails the
-- statement, which then has changed nothing.
WITH taken AS (
    UPDATE {table} AS l
    SET lock_until = ({now $4} + $3::bigint * interval '1 millisecond'{until_up}){until_zone},
        locked_at = ({now $4}{at_down}){at_zone},
        locked_by = $2::text
    FROM {state} AS s
    WHERE l.name = $1::text AND l.name COLLATE "C" = $1::text AND l.lock_until{until_zone} <= {now $4}
      AND s.name = $1::text AND s.token = $5::bigint AND $6::timestamptz <= {now $4} AND {now $4} < $7::timestamptz
      AND set_config('lock_timeout', $11::text, true) <> ''
    RETURNING true
)
UPDATE {state} AS s
SET token = CASE WHEN s.token = $5::bigint THEN s.token + 1 END,
    slot = $8::timestamptz, anchor = $9::timestamptz, step_ms = $10::bigint, granted_at = {now $4}
FROM taken
WHERE s.name = $1::text
RETURNING s.token
