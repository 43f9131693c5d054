-- Frees a lock that its owner still has, or lets it end when its at-least time
-- is over by this clock or by the owner's clock. A rest of 0 is rounded down,
-- as the present time is.
UPDATE {table}
SET lock_until = IF(:rest = 0, {until_down({now})}, GREATEST({until_down({now})},
    LEAST({until({utc_at(locked_at)} + INTERVAL {at_least(:at_least)} MICROSECOND)}, {until({now} + INTERVAL :rest * 1000 MICROSECOND)})))
WHERE name = :name AND CAST(locked_by AS BINARY) = CAST(:owner AS BINARY)
  AND {utc_until(lock_until)} > {now}
