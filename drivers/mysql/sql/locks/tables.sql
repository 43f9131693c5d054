-- Locks.
--
-- A lock is its row and the state of its name, in two tables: the row may be
-- deleted, or belong to another program, and the token still grows. Names are
-- compared by their bytes. Instants are UTC, in a type that does not depend on
-- a session's time zone.

-- The row has the columns of ShedLock, and no other columns.
CREATE TABLE IF NOT EXISTS {table} (
    name       varchar(200) NOT NULL PRIMARY KEY,
    lock_until datetime(6) NOT NULL, -- held while this is later than now
    locked_at  datetime(6) NOT NULL,
    locked_by  varchar(255) NOT NULL -- the acquisition; empty: none yet
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS {state} (
    name       varchar(200) NOT NULL PRIMARY KEY,
    token      bigint NOT NULL,      -- the last token that was given; 0: none yet
    slot       datetime(6),          -- the last slot that was granted once per interval
    anchor     datetime(6),          -- the instant from which its grid counts
    step_ms    bigint,               -- the grid's interval
    granted_at datetime(6)           -- when the slot was granted
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
