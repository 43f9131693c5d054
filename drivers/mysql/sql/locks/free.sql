-- Frees a lock, whatever its owner.
UPDATE {table}
SET lock_until = {until_down({now})}
WHERE name = :name AND CAST(name AS BINARY) = CAST(:name AS BINARY) AND {utc_until(lock_until)} > {now}
