-- Frees a lock whoever has it.
UPDATE {table}
SET lock_until = {now}
WHERE name = :name AND name = :name COLLATE BINARY AND lock_until > {now}
