-- Makes the row of a lock, free, and its state, without a token, if they are
-- missing.
INSERT INTO {table} (name, lock_until, locked_at, locked_by)
VALUES (:name, '2000-01-01', '2000-01-01', '')
ON DUPLICATE KEY UPDATE name = name;

INSERT INTO {state} (name, token)
VALUES (:name, 0)
ON DUPLICATE KEY UPDATE name = name
