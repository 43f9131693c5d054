-- Frees a lock that its owner still has, or lets it end when its least time is
-- over; no row: it has not.
UPDATE {table}
SET lock_until = max({now}, locked_at + :duration)
WHERE name = :name AND locked_by = :owner COLLATE BINARY AND lock_until > {now}
