-- Makes the rows of a name, free and without a token, if they are missing.
WITH seeded AS (
    INSERT INTO {table} (name, lock_until, locked_at, locked_by)
    VALUES (:name::text, '2000-01-01', '2000-01-01', '')
    ON CONFLICT DO NOTHING
    RETURNING true
)
-- Counting the rows of the first insert makes it run before the second: the
-- lock row before the state, which is the order of all other statements, and of
-- Java's trigger.
INSERT INTO {state} (name, token)
SELECT :name::text, 0 FROM (SELECT count(*) FROM seeded) AS first
ON CONFLICT DO NOTHING
