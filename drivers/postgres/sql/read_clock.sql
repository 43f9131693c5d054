-- statement readClock, takes now, returns now
-- The clock of the store, or the instant that replaces it in a test.
SELECT coalesce(:now::timestamptz, now()) AS now
