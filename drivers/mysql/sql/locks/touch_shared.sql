-- touch for the tables of check_shared, whose columns may store whole seconds.
UPDATE {table}
SET lock_until = lock_until + INTERVAL 1 SECOND
WHERE name = :name AND CAST(name AS BINARY) = CAST(:name AS BINARY) AND locked_by REGEXP '/[0-9]+/[A-Z2-7]{26}$'
  AND EXISTS (SELECT 1 FROM {state} AS s WHERE s.name = :name AND s.token = :token)
