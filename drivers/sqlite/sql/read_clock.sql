-- statement ReadClock, returns now
-- The only place where the store's clock is read. SQLite's clock is the clock of the host,
-- in milliseconds; everything that a call writes has this one instant, in microseconds.
SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000 AS now
