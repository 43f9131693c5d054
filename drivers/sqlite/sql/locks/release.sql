-- Frees a lock that its owner still has, or lets it end when its least time is
-- over by this clock or by the owner's; no row: it has not.
UPDATE {table}
SET lock_until = max({now}, min(locked_at + :duration, {now} + :rest))
WHERE name = :name AND locked_by = :owner COLLATE BINARY AND lock_until > {now}
