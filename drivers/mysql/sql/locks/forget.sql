-- Forgets a slot that was granted by a clock that was ahead.
UPDATE {state}
SET slot = NULL, anchor = NULL, step_ms = NULL, granted_at = NULL
WHERE name = :name AND granted_at > {now}
