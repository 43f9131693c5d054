-- Frees a lock, whatever its owner, and deletes a slot that was granted by a clock
-- that was ahead.
UPDATE {table}
SET lock_until = {now}
WHERE name = :name AND name = :name COLLATE BINARY AND lock_until > {now};

UPDATE {state}
SET slot = NULL, anchor = NULL, step = NULL, granted_at = NULL
WHERE name = :name AND granted_at > {now}
