-- All instants are microseconds since 1970-01-01 UTC, NULL for none; all
-- durations are microseconds. The numbers of state, on_loss, origin and outcome
-- are those of package store.

-- What is alive: ready (0), waiting (1), running (2).
CREATE TABLE hourbell_job (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  run_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  started_at   INTEGER,                    -- of the last attempt
  slot         INTEGER,
  schedule_id  INTEGER,
  node         INTEGER,                    -- of the last claim; it holds the job while state = 2
  token        INTEGER NOT NULL DEFAULT 0, -- of the last claim
  timeout      INTEGER NOT NULL,
  priority     INTEGER NOT NULL,
  state        INTEGER NOT NULL,
  attempt      INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  on_loss      INTEGER NOT NULL,
  origin       INTEGER NOT NULL,
  queue        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  args         BLOB NOT NULL,
  headers      BLOB
) STRICT;
-- The claim walks this in order; kind spares it the look into the table.
CREATE INDEX hourbell_job_ready ON hourbell_job (queue, priority, run_at, id, kind) WHERE state = 0;
CREATE INDEX hourbell_job_running ON hourbell_job (node, queue) WHERE state = 2;
CREATE INDEX hourbell_job_waiting ON hourbell_job (queue) WHERE state = 1;
CREATE INDEX hourbell_job_schedule ON hourbell_job (schedule_id) WHERE schedule_id IS NOT NULL;

-- What is over: completed (3), failed (4), cancelled (5).
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
  state        INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  on_loss      INTEGER NOT NULL,
  origin       INTEGER NOT NULL,
  queue        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  node_name    TEXT NOT NULL,              -- outlives the row of the node
  reason       TEXT NOT NULL,
  args         BLOB NOT NULL,
  headers      BLOB
) STRICT;
CREATE INDEX hourbell_history_finished ON hourbell_history (state, finished_at);
CREATE INDEX hourbell_history_schedule ON hourbell_history (schedule_id) WHERE schedule_id IS NOT NULL;

-- Attempts that had something to say.
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

-- Running jobs that somebody asked to stop.
CREATE TABLE hourbell_cancel_request (
  job_id       INTEGER PRIMARY KEY,
  requested_at INTEGER NOT NULL,
  reason       TEXT NOT NULL
) STRICT;

CREATE TABLE hourbell_schedule (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT NOT NULL UNIQUE,
  owner           TEXT NOT NULL,
  revision        INTEGER NOT NULL,
  definition      BLOB NOT NULL,
  anchor          INTEGER NOT NULL,
  mark            INTEGER NOT NULL,
  next_at         INTEGER,
  fired           INTEGER NOT NULL DEFAULT 0,
  paused_at       INTEGER,
  paused_declared INTEGER NOT NULL DEFAULT 0, -- what the last put declared
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER
) STRICT;
CREATE INDEX hourbell_schedule_due ON hourbell_schedule (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX hourbell_schedule_owner ON hourbell_schedule (owner) WHERE deleted_at IS NULL;

-- The revision of each owner's last sync.
CREATE TABLE hourbell_owner (
  name     TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What became of slots: fired (0), missed (1), skipped (2).
CREATE TABLE hourbell_slot (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id INTEGER NOT NULL,
  slot        INTEGER NOT NULL,
  last        INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  outcome     INTEGER NOT NULL,
  reason      TEXT NOT NULL,
  job_id      INTEGER,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX hourbell_slot_fired ON hourbell_slot (schedule_id, slot) WHERE outcome = 0;
CREATE INDEX hourbell_slot_schedule ON hourbell_slot (schedule_id, slot);
CREATE INDEX hourbell_slot_time ON hourbell_slot (slot);
CREATE INDEX hourbell_slot_recorded ON hourbell_slot (recorded_at);

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
  died       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX hourbell_node_alive ON hourbell_node (id) WHERE ended_at IS NULL;
CREATE INDEX hourbell_node_ended ON hourbell_node (ended_at) WHERE ended_at IS NOT NULL;

-- Numbers that only grow. token: the last one given to a claim; revision: the
-- last one given to a schedule.
CREATE TABLE hourbell_counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO hourbell_counter (name, value) VALUES ('token', 0), ('revision', 0);
