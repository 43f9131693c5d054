-- The one place where the store's clock is read. SQLite's clock is the host's,
-- in milliseconds; all that a call does bears this one instant, in microseconds.
SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000
