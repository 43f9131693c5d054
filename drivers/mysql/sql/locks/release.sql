-- Frees a lock that its owner still has, or lets it end when its least time is
-- over.
UPDATE {table}
SET lock_until = GREATEST({until_down({now})}, {until({utc_at(locked_at)} + INTERVAL {at_least(:duration)} MICROSECOND)})
WHERE name = :name AND CAST(locked_by AS BINARY) = CAST(:owner AS BINARY)
  AND {utc_until(lock_until)} > {now}
