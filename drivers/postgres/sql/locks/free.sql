-- Frees a lock, whatever its owner, and deletes a slot that was granted by a
-- clock that was ahead; returns whether there is such a name. The row is locked
-- before the state, as in every statement.
WITH freed AS (
    UPDATE {table}
    SET lock_until = ({now $2}{until_down}){until_zone}
    WHERE name = $1::text AND name COLLATE "C" = $1::text AND lock_until{until_zone} > {now $2}
    RETURNING CASE WHEN NOT pg_try_advisory_xact_lock(hashtextextended({channel} || $1::text, 0)) THEN pg_notify({channel}, $1::text)::text END
), forgotten AS (
    UPDATE {state}
    SET slot = NULL, anchor = NULL, step_ms = NULL, granted_at = NULL
    FROM (SELECT count(*) FROM freed) AS after
    WHERE name = $1::text AND granted_at > {now $2}
)
SELECT EXISTS (SELECT FROM {table} WHERE name = $1::text AND name COLLATE "C" = $1::text)
    OR EXISTS (SELECT FROM {state} WHERE name = $1::text)
