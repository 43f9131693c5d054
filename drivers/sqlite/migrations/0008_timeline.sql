-- How nodes find out that the store went back in time: a backup was restored. The
-- store's own numbers, the last token and the last node, are compared with those that
-- nodes have seen.
--
-- One row: who the store is, and what was reported and accepted.
CREATE TABLE hourbell_timeline (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  store         TEXT NOT NULL,
  accepted      INTEGER NOT NULL DEFAULT 0, -- losses of history
  lost_at       INTEGER,                    -- since when a loss waits to be accepted
  seen_token    INTEGER NOT NULL DEFAULT 0, -- the greatest numbers that were reported
  seen_node     INTEGER NOT NULL DEFAULT 0,
  seen_accepted INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO hourbell_timeline (one, store) VALUES (1, lower(hex(randomblob(16))));

-- How many heartbeats a node has sent: a number that grows whatever the clock does.
ALTER TABLE hourbell_node ADD COLUMN beats INTEGER NOT NULL DEFAULT 0;
