-- Takes a lock if it is free, and draws a token, which is the statement's last
-- insert id. No row: the lock is held, or a row is missing. Both rows are read in
-- their present state, locked, and written, or neither is written.
--
-- A statement that has waited longer than its caller waits takes nothing.
-- SYSDATE is the time when the row was locked, NOW is the time when the
-- statement began.
UPDATE {table} AS l, {state} AS s
SET l.lock_until = {until({now} + INTERVAL :hold * 1000 MICROSECOND)},
    l.locked_at = {at({now})},
    l.locked_by = :owner,
    s.token = LAST_INSERT_ID(s.token + 1)
WHERE l.name = :name AND CAST(l.name AS BINARY) = CAST(:name AS BINARY) AND {utc_until(l.lock_until)} <= {now}
  AND s.name = :name
  AND SYSDATE(6) <= NOW(6) + INTERVAL :patience * 1000 MICROSECOND
