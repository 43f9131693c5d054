-- Takes a lock if it is free and returns the instant; no row: the lock is held,
-- or the conditions of the slot do not hold, which are null without a slot.
INSERT INTO {table} AS l (name, lock_until, locked_at, locked_by)
SELECT :name, {now} + :hold, {now}, :owner
WHERE :seen IS NULL
   OR coalesce((SELECT token FROM {state} WHERE name = :name), 0) = :seen AND :from <= {now} AND {now} < :until
ON CONFLICT (name) DO UPDATE
SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = excluded.locked_by
WHERE l.lock_until <= excluded.locked_at AND l.name = :name COLLATE BINARY
RETURNING locked_at
