-- Takes a lock if it is free and the conditions of the slot hold, draws a token and
-- records the slot. No row: the lock is held, or a row is missing, or a condition does
-- not hold. See take.
--
-- The state is read with the statement's snapshot, and written after the lock's
-- row. If the token has changed in between, the null in its place fails the
-- statement, which then has changed nothing.
WITH taken AS (
    UPDATE {table} AS l
    SET lock_until = {until({now} + :hold::bigint * interval '1 millisecond')},
        locked_at = {at({now})},
        locked_by = :owner::text
    FROM {state} AS s
    WHERE l.name = :name::text AND l.name COLLATE "C" = :name::text AND {utc_until(l.lock_until)} <= {now}
      AND s.name = :name::text AND s.token = :seen::bigint AND :from::timestamptz <= {now} AND {now} < :until::timestamptz
      AND set_config('lock_timeout', :patience::bigint::text, true) <> ''
    RETURNING true
)
UPDATE {state} AS s
SET token = CASE WHEN s.token = :seen::bigint THEN s.token + 1 END,
    slot = :slot::timestamptz, anchor = :anchor::timestamptz, step_ms = :step::bigint, granted_at = {now}
FROM taken
WHERE s.name = :name::text
RETURNING s.token
