-- Handlers: what makes jobs from what happens to jobs and schedules.
CREATE TABLE hourbell_handler (
  name       TEXT NOT NULL PRIMARY KEY,
  events     INTEGER NOT NULL, -- a set of bits; see store.HandlerEvents
  kind       TEXT NOT NULL,    -- only jobs of this kind; empty: of any
  group_name TEXT NOT NULL,    -- only jobs of this group; empty: of any
  job        TEXT NOT NULL,    -- the job that is made, as JSON
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
