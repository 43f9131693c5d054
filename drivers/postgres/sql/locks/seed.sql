-- Makes the rows of a name, free and without a token, where they are missing.
WITH seeded AS (
    INSERT INTO {table} (name, lock_until, locked_at, locked_by)
    VALUES ($1::text, '2000-01-01', '2000-01-01', '')
    ON CONFLICT DO NOTHING
    RETURNING true
)
-- Counting the first comes before the second: the row before the state, which is
-- the order of everybody else, Java's trigger included.
INSERT INTO {state} (name, token)
SELECT $1::text, 0 FROM (SELECT count(*) FROM seeded) AS first
ON CONFLICT DO NOTHING
