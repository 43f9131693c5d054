-- Frees a lock that its owner still has, or lets it end when its at-least time
-- is over by this clock, or by the owner's clock; no row: the owner has lost the
-- lock. A rest of 0 is rounded down, as the present time is. Callers that wait in
-- other processes are notified: they hold the advisory lock that this statement
-- tries to take (see locks_watch.go).
UPDATE {table}
SET lock_until = CASE WHEN :rest::bigint = 0 THEN {until_down({now})} ELSE greatest({until_down({now})},
    least({until({utc_at(locked_at)} + {at_least(:at_least::bigint)})}, {until({now} + :rest::bigint * interval '1 millisecond')})) END
WHERE name = :name::text AND locked_by COLLATE "C" = :owner::text AND {utc_until(lock_until)} > {now}
RETURNING CASE WHEN NOT pg_try_advisory_xact_lock(hashtextextended({channel} || :name::text, 0)) THEN pg_notify({channel}, :name::text)::text END
