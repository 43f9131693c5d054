-- The clock that decides.
SELECT coalesce($1::timestamptz, now())
