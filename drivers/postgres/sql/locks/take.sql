-- Takes a lock if it is free, whatever was granted before, and draws a token. No row:
-- the lock is held, or it has no row yet.
--
-- This statement is apart from take_slot because the server prepares all parts of a
-- statement for each call: conditions that do not apply, and another look at the
-- state, cost almost as much as the second row that is written here. The row comes
-- before the state, as everywhere.
--
-- The server waits for transactions that hold the row or the state no longer than the
-- caller does: otherwise the lock could be taken after the caller has given up. The
-- setting ends with the statement, and applies to all of it.
WITH taken AS (
    UPDATE {table} AS l
    SET lock_until = {until({now} + :hold::bigint * interval '1 millisecond')},
        locked_at = {at({now})},
        locked_by = :owner::text
    WHERE l.name = :name::text AND l.name COLLATE "C" = :name::text AND {utc_until(l.lock_until)} <= {now}
      AND set_config('lock_timeout', :patience::bigint::text, true) <> ''
    RETURNING true
)
INSERT INTO {state} AS s (name, token)
SELECT :name::text, 1 FROM taken
ON CONFLICT (name) DO UPDATE SET token = s.token + 1
RETURNING s.token
