-- Frees a lock, whatever its owner, and deletes a slot that was granted by a
-- clock that was ahead. The row is locked before the state, as in every
-- statement.
WITH freed AS (
    UPDATE {table}
    SET lock_until = {until_down({now})}
    WHERE name = :name::text AND name COLLATE "C" = :name::text AND {utc_until(lock_until)} > {now}
    RETURNING CASE WHEN NOT pg_try_advisory_xact_lock(hashtextextended({channel} || :name::text, 0)) THEN pg_notify({channel}, :name::text)::text END
)
UPDATE {state}
SET slot = NULL, anchor = NULL, step_ms = NULL, granted_at = NULL
FROM (SELECT count(*) FROM freed) AS after
WHERE name = :name::text AND granted_at > {now}
