-- The schema, in this order: bookkeeping, schedules, jobs, nodes, locks.
--
-- All instants are microseconds since 1970-01-01 UTC, NULL for none; all durations are
-- microseconds. The numbers of state, on_loss, origin and outcome are those of package
-- store. hourbell_schema_version, which has the steps, is created before the first step.

-- Bookkeeping.

-- Numbers that only grow. token: the last number that was given to a claim; revision: the
-- last number that was given to a schedule or a calendar.
CREATE TABLE hourbell_counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO hourbell_counter (name, value) VALUES ('token', 0), ('revision', 0);

-- How nodes find out that the store went back in time: a backup was restored. The last
-- token and the last node are compared with the numbers that nodes have seen. The table
-- has one row.
CREATE TABLE hourbell_timeline (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  store         TEXT NOT NULL,              -- identifies the store
  accepted      INTEGER NOT NULL DEFAULT 0, -- how many losses of history were accepted
  lost_at       INTEGER,                    -- since when a loss waits to be accepted
  seen_token    INTEGER NOT NULL DEFAULT 0, -- the greatest numbers that nodes reported
  seen_node     INTEGER NOT NULL DEFAULT 0,
  seen_accepted INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO hourbell_timeline (one, store) VALUES (1, lower(hex(randomblob(16))));

-- Schedules.

CREATE TABLE hourbell_schedule (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT NOT NULL UNIQUE,
  owner           TEXT NOT NULL,
  revision        INTEGER NOT NULL,           -- grows with each change
  definition      BLOB NOT NULL,
  anchor          INTEGER NOT NULL,           -- from which intervals are counted
  mark            INTEGER NOT NULL,           -- slots up to here are accounted for
  next_at         INTEGER,                    -- the next slot, or when to look at the schedule
  fired           INTEGER NOT NULL DEFAULT 0, -- how many slots made a job
  paused_at       INTEGER,
  paused_declared INTEGER NOT NULL DEFAULT 0, -- whether the last put declared a pause
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER,                    -- a tombstone keeps the name, the number and the mark
  paused_until    INTEGER                     -- when a pause ends by itself
) STRICT;
CREATE INDEX hourbell_schedule_due ON hourbell_schedule (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX hourbell_schedule_owner ON hourbell_schedule (owner) WHERE deleted_at IS NULL;

-- A row means that the schedule fails.
CREATE TABLE hourbell_failing (
  schedule_id INTEGER PRIMARY KEY,
  since       INTEGER NOT NULL,
  failures    INTEGER NOT NULL DEFAULT 0 -- in a row
) STRICT;

-- The revision of the last sync of each owner.
CREATE TABLE hourbell_owner (
  name     TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Calendars, which schedules share by name.
CREATE TABLE hourbell_calendar (
  name       TEXT PRIMARY KEY,
  revision   INTEGER NOT NULL,
  definition BLOB NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which schedules name which calendars. A row whose schedule is a tombstone has no effect.
CREATE TABLE hourbell_calendar_use (
  calendar    TEXT NOT NULL,
  schedule_id INTEGER NOT NULL,
  PRIMARY KEY (calendar, schedule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourbell_calendar_use_schedule ON hourbell_calendar_use (schedule_id);

-- Slots that are accounted for: each row has one slot, or count slots from slot to last.
CREATE TABLE hourbell_slot (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id INTEGER NOT NULL,
  slot        INTEGER NOT NULL,
  last        INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  outcome     INTEGER NOT NULL, -- 0 fired, 1 missed, 2 skipped
  reason      TEXT NOT NULL,
  job_id      INTEGER,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX hourbell_slot_fired ON hourbell_slot (schedule_id, slot) WHERE outcome = 0;
CREATE INDEX hourbell_slot_schedule ON hourbell_slot (schedule_id, slot);
CREATE INDEX hourbell_slot_time ON hourbell_slot (slot);
CREATE INDEX hourbell_slot_recorded ON hourbell_slot (recorded_at);

-- Jobs.

-- Live jobs.
CREATE TABLE hourbell_job (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  run_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  started_at   INTEGER,                    -- of the last attempt
  slot         INTEGER,
  schedule_id  INTEGER,
  node         INTEGER,                    -- of the last claim, which holds the job while state = 2
  token        INTEGER NOT NULL DEFAULT 0, -- of the last claim
  timeout      INTEGER NOT NULL,
  priority     INTEGER NOT NULL,
  state        INTEGER NOT NULL,           -- 0 ready, 1 waiting, 2 running
  attempt      INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  on_loss      INTEGER NOT NULL,
  origin       INTEGER NOT NULL,
  queue        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  args         BLOB NOT NULL,
  headers      BLOB,
  unique_key   TEXT,                       -- no two live jobs of a kind share a key
  losses       INTEGER NOT NULL DEFAULT 0, -- in a row; with 2 losses the job is a suspect
  refunds      INTEGER NOT NULL DEFAULT 0, -- attempts that were refunded after lost leases
  begun        INTEGER NOT NULL DEFAULT 1, -- whether the last claim may have begun
  digest       BLOB                        -- SHA-256 of args, if a claim has needed it
) STRICT;

CREATE INDEX hourbell_job_running ON hourbell_job (node, queue) WHERE state = 2;
CREATE INDEX hourbell_job_waiting ON hourbell_job (queue) WHERE state = 1;
-- The live jobs of a schedule, and its waiting jobs in their order.
CREATE INDEX hourbell_job_schedule ON hourbell_job (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX hourbell_job_serial_group ON hourbell_job (schedule_id, slot, id) WHERE state = 1;
CREATE UNIQUE INDEX hourbell_job_unique ON hourbell_job (kind, unique_key) WHERE unique_key IS NOT NULL;
-- A claim finds the kinds that its node takes, and, of a kind of which the node takes only
-- jobs with certain args, these jobs by the digests of their args. It walks over no other
-- jobs. hourbell_job_digested has the jobs with digests for claims that take any args.
CREATE INDEX hourbell_job_suspect ON hourbell_job (queue, priority, run_at, id) WHERE state = 0 AND losses >= 2;
CREATE INDEX hourbell_job_ready ON hourbell_job (queue, kind, digest, priority, run_at, id, losses) WHERE state = 0;
CREATE INDEX hourbell_job_digested ON hourbell_job (queue, kind, priority, run_at, id, losses) WHERE state = 0 AND digest IS NOT NULL;

-- Finished jobs.
CREATE TABLE hourbell_history (
  id           INTEGER PRIMARY KEY,
  run_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  started_at   INTEGER,
  finished_at  INTEGER NOT NULL,
  slot         INTEGER,
  schedule_id  INTEGER,
  node         INTEGER,
  token        INTEGER NOT NULL,
  timeout      INTEGER NOT NULL,
  priority     INTEGER NOT NULL,
  state        INTEGER NOT NULL,           -- 3 completed, 4 failed, 5 cancelled
  attempt      INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  on_loss      INTEGER NOT NULL,
  origin       INTEGER NOT NULL,
  queue        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  node_name    TEXT NOT NULL,              -- stays when the row of the node is pruned
  reason       TEXT NOT NULL,
  args         BLOB NOT NULL,
  headers      BLOB,
  unique_key   TEXT,                       -- a retry takes the key back
  losses       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX hourbell_history_finished ON hourbell_history (state, finished_at);
CREATE INDEX hourbell_history_schedule ON hourbell_history (schedule_id) WHERE schedule_id IS NOT NULL;

-- Attempts that left an error, a trace or output, of live and of finished jobs.
CREATE TABLE hourbell_attempt (
  job_id      INTEGER NOT NULL,
  token       INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  node        TEXT NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER NOT NULL,
  error       TEXT NOT NULL,
  trace       TEXT NOT NULL,
  output      BLOB NOT NULL,
  PRIMARY KEY (job_id, token)
) STRICT;

-- Requests to cancel running jobs.
CREATE TABLE hourbell_cancel_request (
  job_id       INTEGER PRIMARY KEY,
  requested_at INTEGER NOT NULL,
  reason       TEXT NOT NULL
) STRICT;

-- Nodes.

-- Every node that ever registered, until it is pruned.
CREATE TABLE hourbell_node (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  version    TEXT NOT NULL,
  queues     TEXT NOT NULL, -- JSON array
  kinds      TEXT NOT NULL, -- JSON array
  lease      INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  ended_at   INTEGER,
  died       INTEGER NOT NULL DEFAULT 0,
  beats      INTEGER NOT NULL DEFAULT 0 -- how many heartbeats the node has sent
) STRICT;
CREATE INDEX hourbell_node_alive ON hourbell_node (id) WHERE ended_at IS NULL;
CREATE INDEX hourbell_node_ended ON hourbell_node (ended_at) WHERE ended_at IS NOT NULL;

-- Locks.
--
-- A lock is its row and the state of its name, apart from each other: the row
-- may be deleted, or belong to another program, and the token still grows. Both tables
-- may exist already, because a program can create them without the rest of the schema.
-- All instants of these tables are milliseconds since 1970-01-01 UTC: SQLite's
-- clock has no more, and Java's driver for SQLite writes the same.

-- The row has the columns of ShedLock, and no others.
CREATE TABLE IF NOT EXISTS hourbell_lock (
  name       TEXT NOT NULL PRIMARY KEY,
  lock_until INTEGER NOT NULL, -- held while this is later than now
  locked_at  INTEGER NOT NULL,
  locked_by  TEXT NOT NULL     -- the acquisition
) STRICT;

CREATE TABLE IF NOT EXISTS hourbell_lock_state (
  name       TEXT NOT NULL PRIMARY KEY,
  token      INTEGER NOT NULL, -- the last that was given
  slot       INTEGER,          -- the last that was granted once per interval
  anchor     INTEGER,          -- from which its grid counts
  step       INTEGER,          -- the grid's interval in milliseconds
  granted_at INTEGER           -- when the slot was granted
) STRICT;
