-- The clock that decides.
SELECT coalesce(:now::timestamptz, now()) AS now
