-- Frees a lock that its owner still has, or lets it end when its at-least time
-- is over by this clock or by the owner's clock; no row: the owner has lost the
-- lock.
UPDATE {table}
SET lock_until = max({now}, min(locked_at + :at_least, {now} + :rest))
WHERE name = :name AND locked_by = :owner COLLATE BINARY AND lock_until > {now}
