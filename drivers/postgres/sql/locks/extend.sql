-- Extends a lock that its owner still has; no row: the owner has lost the lock.
-- The statement may have waited for the owner's own release, and must not undo
-- it.
UPDATE {table}
SET lock_until = greatest(lock_until, ({now $3} + $4::bigint * interval '1 millisecond'{until_up}){until_zone})
WHERE name = $1::text AND locked_by COLLATE "C" = $2::text AND lock_until{until_zone} > {clock $3}
