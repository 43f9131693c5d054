-- Makes the rows of a name, free and without a token, where they are missing.
WITH seeded AS (
    INSERT INTO {table} (name, lock_until, locked_at, locked_by)
    VALUES ($1::text, '2000-01-01', '2000-01-01', '')
    ON CONFLICT DO NOTHING
)
INSERT INTO {state} (name, token)
VALUES ($1::text, 0)
ON CONFLICT DO NOTHING
