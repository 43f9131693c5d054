-- Frees a lock, whatever its owner.
UPDATE {table}
SET lock_until = {now}
WHERE name = :name AND name = :name COLLATE BINARY AND lock_until > {now}
