-- Takes a lock if it is free, and then draws a token, if the first statement has
-- taken the lock. No row: the lock is held.
INSERT INTO {table} AS l (name, lock_until, locked_at, locked_by)
VALUES (:name, {now} + :hold, {now}, :owner)
ON CONFLICT (name) DO UPDATE
SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = excluded.locked_by
WHERE l.lock_until <= excluded.locked_at AND l.name = :name COLLATE BINARY;

INSERT INTO {state} AS s (name, token)
SELECT :name, 1 WHERE changes() = 1
ON CONFLICT (name) DO UPDATE SET token = s.token + 1
RETURNING token
