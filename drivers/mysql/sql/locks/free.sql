-- Frees a lock, whatever its owner, and then deletes a slot that was granted by a
-- clock that was ahead.
UPDATE {table}
SET lock_until = {until_down({now})}
WHERE name = :name AND CAST(name AS BINARY) = CAST(:name AS BINARY) AND {utc_until(lock_until)} > {now};

UPDATE {state}
SET slot = NULL, anchor = NULL, step_ms = NULL, granted_at = NULL
WHERE name = :name AND granted_at > {now}
