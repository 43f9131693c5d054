-- What happened to jobs and schedules: one row for the events of one type that one
-- transaction stored.
CREATE TABLE hourbell_event (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  at       INTEGER NOT NULL,
  type     INTEGER NOT NULL, -- 3 to 6: a job ended in this state; see store.EventType
  subjects TEXT NOT NULL,    -- jobs or, from type 32 on, schedules: a JSON array
  slots    TEXT,             -- these arrays are as long as subjects, or null
  counts   TEXT,
  reasons  TEXT
) STRICT;

-- For how long events are kept, and the last row that was deleted.
CREATE TABLE hourbell_feed (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  keep    INTEGER NOT NULL,           -- 0: no events are stored
  gone_id INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO hourbell_feed (one, keep) VALUES (1, 86400000000);
