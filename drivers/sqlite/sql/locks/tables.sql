-- Locks.
--
-- A lock is its row and the state of its name, in two tables: the row may be
-- deleted, or belong to another program, and the token still grows. All instants
-- are milliseconds since 1970-01-01 UTC, because SQLite's clock has milliseconds,
-- and Java's driver for SQLite writes the same.

-- The row has the columns of ShedLock, and no other columns.
CREATE TABLE IF NOT EXISTS {table} (
  name       TEXT NOT NULL PRIMARY KEY,
  lock_until INTEGER NOT NULL, -- held while this is later than now
  locked_at  INTEGER NOT NULL,
  locked_by  TEXT NOT NULL     -- the acquisition
) STRICT;

CREATE TABLE IF NOT EXISTS {state} (
  name       TEXT NOT NULL PRIMARY KEY,
  token      INTEGER NOT NULL, -- the last token that was given
  slot       INTEGER,          -- the last slot that was granted once per interval
  anchor     INTEGER,          -- the instant from which its grid counts
  step       INTEGER,          -- the grid's interval in milliseconds
  granted_at INTEGER           -- when the slot was granted
) STRICT;
