-- Checks whether the owner still has a lock, for a lock that a statement found
-- but did not have to change: the settings of the connection decide whether
-- such a row is counted.
SELECT EXISTS (
    SELECT 1 FROM {table}
    WHERE name = :name AND CAST(locked_by AS BINARY) = CAST(:owner AS BINARY)
      AND {utc_until(lock_until)} > {now})
