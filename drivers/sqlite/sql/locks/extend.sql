-- Extends a lock that its owner still has; no row: the owner has lost the lock.
UPDATE {table}
SET lock_until = max(lock_until, {now} + :hold)
WHERE name = :name AND locked_by = :owner COLLATE BINARY AND lock_until > {now}
