-- Whether the owner still has a lock, for one that a statement found but did not
-- have to change: whether that counts is the connection's choice.
SELECT EXISTS (
    SELECT 1 FROM {table}
    WHERE name = :name AND CAST(locked_by AS BINARY) = CAST(:owner AS BINARY)
      AND {utc_until(lock_until)} > {now})
