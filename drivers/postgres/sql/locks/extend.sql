-- Extends a lock that its owner still has; no row: the owner has lost the lock.
-- The statement may have waited for the owner's own release, and must not undo
-- it.
UPDATE {table}
SET lock_until = greatest(lock_until, {until({now} + :hold::bigint * interval '1 millisecond')})
WHERE name = :name::text AND locked_by COLLATE "C" = :owner::text AND {utc_until(lock_until)} > {clock}
