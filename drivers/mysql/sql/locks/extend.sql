-- Extends a lock that its owner still has.
UPDATE {table}
SET lock_until = GREATEST(lock_until, {until({now} + INTERVAL :hold * 1000 MICROSECOND)})
WHERE name = :name AND CAST(locked_by AS BINARY) = CAST(:owner AS BINARY)
  AND {utc_until(lock_until)} > {now}
