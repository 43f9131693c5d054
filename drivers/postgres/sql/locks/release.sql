-- Frees a lock that its owner still has, or lets it end when its at-least time
-- ($4) is over by this clock, or by the owner's clock, which has $5 of it left;
-- no row: the owner has lost the lock. A rest of 0 is rounded down, as the
-- present time is. Callers that wait in other processes are notified: they hold
-- the advisory lock that this statement tries to take (see locks_watch.go).
UPDATE {table}
SET lock_until = CASE WHEN $5::bigint = 0 THEN {now $3}{until_down} ELSE greatest({now $3}{until_down},
    least(locked_at{at_zone} + $4::bigint * interval '1 millisecond'{at_least}{until_up}, {now $3} + $5::bigint * interval '1 millisecond'{until_up})) END{until_zone}
WHERE name = $1::text AND locked_by COLLATE "C" = $2::text AND lock_until{until_zone} > {now $3}
RETURNING CASE WHEN NOT pg_try_advisory_xact_lock(hashtextextended({channel} || $1::text, 0)) THEN pg_notify({channel}, $1::text)::text END
