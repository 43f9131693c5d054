-- Frees a lock that its owner still has, or lets it end when its least time is
-- over; no row: it has not.
UPDATE {table}
SET lock_until = greatest({now $4}{until_down}, locked_at{at_zone} + $3::bigint * interval '1 millisecond'{at_least}{until_up}){until_zone}
WHERE name = $1::text AND locked_by COLLATE "C" = $2::text AND lock_until{until_zone} > {now $4}
