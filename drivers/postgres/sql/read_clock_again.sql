-- statement readClockAgain, takes now, returns now
-- The clock of the store when the statement runs, which is later than the begin of the transaction; or the instant that
-- replaces it in a test.
SELECT coalesce(:now::timestamptz, clock_timestamp()) AS now
