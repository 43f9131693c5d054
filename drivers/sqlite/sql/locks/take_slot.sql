-- Takes a lock if it is free and the conditions of the slot hold, and then draws a
-- token and records the slot, if the first statement has taken the lock. No row: the
-- lock is held, or a condition does not hold.
INSERT INTO {table} AS l (name, lock_until, locked_at, locked_by)
SELECT :name, {now} + :hold, {now}, :owner
WHERE coalesce((SELECT token FROM {state} WHERE name = :name), 0) = :seen AND :from <= {now} AND {now} < :until
ON CONFLICT (name) DO UPDATE
SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = excluded.locked_by
WHERE l.lock_until <= excluded.locked_at AND l.name = :name COLLATE BINARY;

INSERT INTO {state} AS s (name, token, slot, anchor, step, granted_at)
SELECT :name, 1, :slot, :anchor, :step, l.locked_at FROM {table} AS l WHERE l.name = :name AND changes() = 1
ON CONFLICT (name) DO UPDATE
SET token = s.token + 1, slot = excluded.slot, anchor = excluded.anchor, step = excluded.step, granted_at = excluded.granted_at
RETURNING token
