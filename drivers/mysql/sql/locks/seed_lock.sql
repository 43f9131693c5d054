-- Makes the row of a lock, free, if it is missing.
INSERT INTO {table} (name, lock_until, locked_at, locked_by)
VALUES (:name, '2000-01-01', '2000-01-01', '')
ON DUPLICATE KEY UPDATE name = name
