-- Locks.
--
-- A lock is its row and the state of its name, in two tables: the row may be
-- deleted, or belong to another program, and the token still grows.

-- The row has the columns of ShedLock, and no other columns. Instants are UTC
-- without a zone, as its usingDbTime writes them.
CREATE TABLE IF NOT EXISTS {table} (
    name       text COLLATE "C" PRIMARY KEY,
    lock_until timestamp NOT NULL, -- held while this is later than now
    locked_at  timestamp NOT NULL,
    locked_by  text NOT NULL       -- the acquisition; empty: none yet
);

CREATE TABLE IF NOT EXISTS {state} (
    name       text COLLATE "C" PRIMARY KEY,
    token      bigint NOT NULL,    -- the last token that was given; 0: none yet
    slot       timestamptz,        -- the last slot that was granted once per interval
    anchor     timestamptz,        -- the instant from which its grid counts
    step_ms    bigint,             -- the grid's interval
    granted_at timestamptz         -- when the slot was granted
);
