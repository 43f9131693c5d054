-- Takes a lock if it is free and the conditions of the slot hold, draws a token and
-- records the slot. See take.
UPDATE {table} AS l, {state} AS s
SET l.lock_until = {until({now} + INTERVAL :hold * 1000 MICROSECOND)},
    l.locked_at = {at({now})},
    l.locked_by = :owner,
    s.token = LAST_INSERT_ID(s.token + 1),
    s.slot = :slot,
    s.anchor = :anchor,
    s.step_ms = :step,
    s.granted_at = {now}
WHERE l.name = :name AND CAST(l.name AS BINARY) = CAST(:name AS BINARY) AND {utc_until(l.lock_until)} <= {now}
  AND s.name = :name
  AND s.token = :seen AND CAST(:from AS DATETIME(6)) <= {now} AND {now} < CAST(:until AS DATETIME(6))
  AND SYSDATE(6) <= NOW(6) + INTERVAL :patience * 1000 MICROSECOND
