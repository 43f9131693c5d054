-- statement lockOldWakes, returns source
-- Locks rows that were not raised for a while, except rows of open transactions.
SELECT source FROM hourbell_wake WHERE at < UTC_TIMESTAMP(6) - INTERVAL :age MICROSECOND LIMIT 1000 FOR UPDATE SKIP LOCKED
