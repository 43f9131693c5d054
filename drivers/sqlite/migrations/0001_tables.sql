-- The tables, in this order: bookkeeping, schedules, jobs, jobs that follow other jobs, limits,
-- events, changes, nodes, locks. The first rows are at the end.
--
-- All instants are microseconds since 1970-01-01 UTC, NULL for none; all durations are
-- microseconds. The numbers of states, outcomes, origins, events and on_loss are those of
-- package store. What may be large is at the end of its row, because what comes after it is
-- found by reading over it. hourbell_schema_version, which has the steps, is created before
-- the first step.

-- Bookkeeping.

-- Numbers that only grow. token: the last number that was given to a claim; revision: the
-- last number that was given to a schedule or a calendar.
CREATE TABLE hourbell_counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

-- Schedules.

CREATE TABLE hourbell_schedule (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  name               TEXT NOT NULL UNIQUE,
  owner              TEXT NOT NULL,
  group_name         TEXT,                       -- NULL: none
  revision           INTEGER NOT NULL,           -- grows with each change
  anchor             INTEGER NOT NULL,           -- from which intervals are counted
  mark               INTEGER NOT NULL,           -- slots up to here are accounted for
  next_at            INTEGER,                    -- the next slot, or when to look at the schedule
  fired              INTEGER NOT NULL DEFAULT 0, -- how many slots made a job
  paused_at          INTEGER,
  paused_until       INTEGER,                    -- when a pause ends by itself
  paused_declared    INTEGER NOT NULL DEFAULT 0, -- whether the last put declared a pause
  group_paused_at    INTEGER,                    -- what the schedule has of the pause of its group
  group_paused_until INTEGER,
  releases           INTEGER NOT NULL DEFAULT 0, -- the ends of its jobs leave rows in hourbell_release
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  deleted_at         INTEGER,                    -- a tombstone keeps the name, the number and the mark
  definition         BLOB NOT NULL
) STRICT;

CREATE INDEX hourbell_schedule_due ON hourbell_schedule (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX hourbell_schedule_owner ON hourbell_schedule (owner) WHERE deleted_at IS NULL;
CREATE INDEX hourbell_schedule_group ON hourbell_schedule (group_name) WHERE group_name IS NOT NULL;

-- A row means that the schedule fails.
CREATE TABLE hourbell_failing (
  schedule_id INTEGER PRIMARY KEY,
  since       INTEGER NOT NULL,
  failures    INTEGER NOT NULL DEFAULT 0 -- in a row
) STRICT;

-- The version of an owner's schedules that is in force.
CREATE TABLE hourbell_owner (
  name      TEXT PRIMARY KEY,
  revision  INTEGER NOT NULL,         -- of the last sync
  digest    TEXT NOT NULL DEFAULT '', -- of the version; empty: not known
  host      TEXT NOT NULL DEFAULT '', -- whose copy brought the version; empty: of a caller without a host
  synced_at INTEGER                   -- when the version came into force
) STRICT, WITHOUT ROWID;

-- The copies of an owner's schedules that hosts declare.
CREATE TABLE hourbell_copy (
  owner      TEXT NOT NULL,
  host       TEXT NOT NULL,
  path       TEXT NOT NULL,
  digest     TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  changed_at INTEGER NOT NULL, -- when this content was declared first
  PRIMARY KEY (owner, host)
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
-- Records of more than one slot. Such a record can begin before a range of time and reach into it.
CREATE INDEX hourbell_slot_spans ON hourbell_slot (last) WHERE count > 1;

-- Schedules that follow other schedules instead of a rule: which follow which. A row whose
-- schedule is a tombstone has no effect.
CREATE TABLE hourbell_chain (
  predecessor TEXT NOT NULL,    -- by name, also of a schedule that does not exist
  schedule_id INTEGER NOT NULL, -- the dependent
  PRIMARY KEY (predecessor, schedule_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_chain_schedule ON hourbell_chain (schedule_id);

-- Ends of jobs of predecessors, each a slot of a dependent.
CREATE TABLE hourbell_chain_end (
  schedule_id INTEGER NOT NULL, -- the dependent
  slot        INTEGER NOT NULL,
  job_id      INTEGER NOT NULL, -- the job that ended
  ended_at    INTEGER NOT NULL,
  state       INTEGER NOT NULL,
  paused      INTEGER NOT NULL, -- the predecessor was paused
  open        INTEGER NOT NULL, -- the dependent has not accounted for it
  predecessor TEXT NOT NULL,
  reason      TEXT NOT NULL,
  PRIMARY KEY (schedule_id, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_chain_end_open ON hourbell_chain_end (schedule_id, slot) WHERE open = 1;
CREATE INDEX hourbell_chain_end_job ON hourbell_chain_end (schedule_id, job_id);
CREATE INDEX hourbell_chain_end_slot ON hourbell_chain_end (slot);

-- Pauses of groups, queues, kinds and keys. A pause that has ended stays until all jobs that
-- were parked for it are ready again.
CREATE TABLE hourbell_pause (
  subject   INTEGER NOT NULL, -- 0 a group, 1 a queue, 2 a kind, 3 a key
  name      TEXT NOT NULL,
  paused_at INTEGER NOT NULL,
  until     INTEGER,          -- when it ends, or has ended; NULL: never
  reason    TEXT NOT NULL,
  actor     TEXT NOT NULL,
  PRIMARY KEY (subject, name)
) STRICT, WITHOUT ROWID;

-- Jobs.

-- Live jobs.
CREATE TABLE hourbell_job (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  run_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  started_at   INTEGER,                    -- of the last attempt
  slot         INTEGER,
  schedule_id  INTEGER,
  batch        INTEGER,
  node         INTEGER,                    -- of the last claim, which holds the job while state = 2
  token        INTEGER NOT NULL DEFAULT 0, -- of the last claim
  timeout      INTEGER NOT NULL,
  priority     INTEGER NOT NULL,
  -- 0 ready, 1 waiting, 2 running. Ready jobs that are out of the way of claims: -1 parked, because
  -- its group or its key is paused; -2 waits for a permit; -3 the same, and it goes first within its
  -- priority, because it was claimed before.
  state        INTEGER NOT NULL,
  attempt      INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  on_loss      INTEGER NOT NULL,
  origin       INTEGER NOT NULL,
  losses       INTEGER NOT NULL DEFAULT 0, -- in a row; with 2 losses the job is a suspect
  refunds      INTEGER NOT NULL DEFAULT 0, -- attempts that were refunded after lost leases
  snoozes      INTEGER,                    -- how many attempts ended with a snooze; NULL: none
  begun        INTEGER NOT NULL DEFAULT 1, -- whether the last claim may have begun
  waits        INTEGER,                    -- how many open edges it waits for; NULL: it does not wait for jobs
  releases     INTEGER NOT NULL DEFAULT 0, -- its end leaves a row in hourbell_release
  lane         INTEGER,                    -- in which the job waits for a permit, with state -2 or -3
  permits      TEXT,                       -- the lanes whose permits the job holds, as JSON; NULL: none
  queue        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  group_name   TEXT,                       -- NULL: none
  job_key      TEXT,                       -- NULL: none
  unique_key   TEXT,                       -- no two live jobs of a kind share a key
  digest       BLOB,                       -- SHA-256 of args, if a claim has needed it
  args         BLOB NOT NULL,
  headers      BLOB
) STRICT;

CREATE INDEX hourbell_job_running ON hourbell_job (node, queue) WHERE state = 2;
CREATE INDEX hourbell_job_waiting ON hourbell_job (queue) WHERE state = 1;
CREATE INDEX hourbell_job_parked ON hourbell_job (queue) WHERE state = -1;
-- The live jobs of a schedule, and its waiting jobs in their order.
CREATE INDEX hourbell_job_schedule ON hourbell_job (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX hourbell_job_serial_group ON hourbell_job (schedule_id, slot, id) WHERE state = 1;
-- Jobs without a key, a group, a batch, a limit or dependents are not in these indexes.
CREATE UNIQUE INDEX hourbell_job_unique ON hourbell_job (kind, unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX hourbell_job_group ON hourbell_job (group_name, state, run_at, id) WHERE group_name IS NOT NULL;
CREATE INDEX hourbell_job_key ON hourbell_job (job_key, state, run_at, id) WHERE job_key IS NOT NULL;
CREATE INDEX hourbell_job_of_batch ON hourbell_job (batch, id) WHERE batch IS NOT NULL;
CREATE INDEX hourbell_job_lane ON hourbell_job (lane, priority, state, run_at, id) WHERE lane IS NOT NULL;
CREATE INDEX hourbell_job_permit ON hourbell_job (id) WHERE permits IS NOT NULL;
CREATE INDEX hourbell_job_releases ON hourbell_job (id) WHERE releases = 1;
-- A claim finds jobs by the kinds that its node takes. If the node takes only jobs with
-- certain args of a kind, the claim finds these jobs by the digests of their args. It walks
-- over no other jobs. hourbell_job_digested has the jobs with digests for claims that take any args.
CREATE INDEX hourbell_job_suspect ON hourbell_job (queue, priority, run_at, id) WHERE state = 0 AND losses >= 2;
CREATE INDEX hourbell_job_ready ON hourbell_job (queue, kind, digest, priority, run_at, id, losses) WHERE state = 0;
CREATE INDEX hourbell_job_digested ON hourbell_job (queue, kind, priority, run_at, id, losses)
  WHERE state = 0 AND digest IS NOT NULL;

-- Finished jobs.
CREATE TABLE hourbell_history (
  id           INTEGER PRIMARY KEY,
  run_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  started_at   INTEGER,
  finished_at  INTEGER NOT NULL,
  keep_until   INTEGER,                    -- of jobs of kinds with a retention of their own
  slot         INTEGER,
  schedule_id  INTEGER,
  batch        INTEGER,
  node         INTEGER,
  token        INTEGER NOT NULL,
  timeout      INTEGER NOT NULL,
  priority     INTEGER NOT NULL,
  state        INTEGER NOT NULL,           -- 3 completed, 4 failed, 5 cancelled, 6 not started
  attempt      INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  on_loss      INTEGER NOT NULL,
  origin       INTEGER NOT NULL,
  losses       INTEGER NOT NULL DEFAULT 0,
  snoozes      INTEGER,
  releases     INTEGER NOT NULL DEFAULT 0,
  queue        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  group_name   TEXT,
  job_key      TEXT,
  unique_key   TEXT,                       -- a retry takes the key back
  node_name    TEXT NOT NULL,              -- stays when the row of the node is pruned
  reason       TEXT NOT NULL,
  args         BLOB NOT NULL,
  headers      BLOB,
  result       TEXT                        -- what the attempt that ended the job left: JSON; NULL: nothing
) STRICT;

-- The index has jobs with a retention of their own apart from jobs that are kept by their age,
-- so that pruning meets only the jobs of one sort.
CREATE INDEX hourbell_history_finished ON hourbell_history (state, (keep_until IS NOT NULL), finished_at);
CREATE INDEX hourbell_history_keep ON hourbell_history (keep_until) WHERE keep_until IS NOT NULL;
-- Listings find jobs by what few jobs have. Jobs without it are not in these indexes.
CREATE INDEX hourbell_history_schedule ON hourbell_history (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX hourbell_history_group ON hourbell_history (group_name) WHERE group_name IS NOT NULL;
CREATE INDEX hourbell_history_key ON hourbell_history (job_key) WHERE job_key IS NOT NULL;
CREATE INDEX hourbell_history_unique ON hourbell_history (unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX hourbell_history_of_batch ON hourbell_history (batch, id) WHERE batch IS NOT NULL;
-- Jobs that did not complete, by number: listings find them among very many that did, which
-- cost the index nothing.
CREATE INDEX hourbell_history_failed ON hourbell_history (id, finished_at) WHERE state >= 4;

-- Unique keys that stay taken after the end of their jobs. A row has an effect until its
-- instant; then the next insert with the key replaces the row, or it is pruned.
CREATE TABLE hourbell_key_hold (
  kind       TEXT NOT NULL,
  unique_key TEXT NOT NULL,
  job_id     INTEGER NOT NULL,
  until      INTEGER NOT NULL,
  PRIMARY KEY (kind, unique_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_key_hold_until ON hourbell_key_hold (until);
CREATE INDEX hourbell_key_hold_job ON hourbell_key_hold (job_id, until);

-- Attempts that did not complete, or left output, of live and of finished jobs.
CREATE TABLE hourbell_attempt (
  job_id      INTEGER NOT NULL,
  token       INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  node        TEXT NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER NOT NULL,
  outcome     INTEGER NOT NULL DEFAULT 0, -- how the attempt ended
  printed     INTEGER NOT NULL DEFAULT 0, -- how many bytes the attempt printed; less than output has: as many
  error       TEXT NOT NULL,
  trace       TEXT NOT NULL,
  output      BLOB NOT NULL,
  PRIMARY KEY (job_id, token)
) STRICT;

-- The output of attempts that run, in blocks: the newest blocks of each. The end of an
-- attempt deletes its rows, and the record of the attempt keeps the output from then on.
CREATE TABLE hourbell_output (
  job_id INTEGER NOT NULL,
  token  INTEGER NOT NULL,
  block  INTEGER NOT NULL, -- byte 4096*block of the output is the first of data
  data   BLOB NOT NULL,
  PRIMARY KEY (job_id, token, block)
) STRICT, WITHOUT ROWID;

-- The progress that attempts reported, of live and of finished jobs: one row for each job
-- that has reported any. A row with another token than its job belongs to an attempt before
-- the last.
CREATE TABLE hourbell_progress (
  job_id INTEGER PRIMARY KEY,
  token  INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  done   INTEGER NOT NULL,
  total  INTEGER NOT NULL, -- 0: not known
  stuck  INTEGER,          -- since when the context of the attempt has ended, if its worker was found not to return
  note   TEXT NOT NULL
) STRICT;

-- What jobs remember from one attempt to the next.
CREATE TABLE hourbell_step (
  job_id    INTEGER NOT NULL,
  name      TEXT NOT NULL,
  sort      INTEGER NOT NULL,
  place     INTEGER NOT NULL, -- among the steps of the job, from 1 on; 0: a signal for which the job has not waited yet
  version   INTEGER NOT NULL, -- of the program that stored the step first (StepsVersion)
  value     TEXT NOT NULL,    -- JSON; empty: none
  waits     INTEGER NOT NULL, -- 1: the wait has not ended
  until     INTEGER,          -- when the wait ends; NULL: when the signal comes
  timed_out INTEGER NOT NULL, -- 1: the wait for a signal ended at until
  at        INTEGER NOT NULL, -- when the step was stored last
  PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;

-- Requests to cancel running jobs.
CREATE TABLE hourbell_cancel_request (
  job_id       INTEGER PRIMARY KEY,
  requested_at INTEGER NOT NULL,
  reason       TEXT NOT NULL
) STRICT;

-- Jobs that follow other jobs.

-- Jobs that were enqueued together.
CREATE TABLE hourbell_batch (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at  INTEGER NOT NULL,
  finally_id  INTEGER, -- its last job, which waits for all others; NULL: none
  finally_on  INTEGER, -- what the last job waits for, as in hourbell_edge
  finally_any INTEGER
) STRICT;

-- An edge: a job waits for the end of another job, its predecessor.
CREATE TABLE hourbell_edge (
  on_id  INTEGER NOT NULL,           -- the predecessor
  job_id INTEGER NOT NULL,           -- the job that waits
  delay  INTEGER NOT NULL,
  "on"   INTEGER NOT NULL,           -- 0 success, 1 failure, 2 either
  state  INTEGER NOT NULL,           -- 0 open, 1 matched, 2 missed
  any_of INTEGER NOT NULL,           -- one matched edge of the job is enough
  at_end INTEGER NOT NULL DEFAULT 0, -- the job waits until no edge is open
  since  INTEGER,                    -- rows of hourbell_release before this one do not concern the edge; NULL: all do
  PRIMARY KEY (on_id, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_edge_job ON hourbell_edge (job_id, on_id);

-- Predecessors that have ended, with dependents that are not released yet. A retry by hand of a
-- job that others follow leaves a row with state 1, so that dependents that were not started
-- wait again.
CREATE TABLE hourbell_release (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  on_id       INTEGER NOT NULL,
  schedule_id INTEGER,                    -- whose dependents have to account for the end; NULL: none
  done_to     INTEGER NOT NULL DEFAULT 0, -- dependents up to this number are released
  ended_at    INTEGER NOT NULL,
  state       INTEGER NOT NULL,           -- in which the predecessor ended
  reason      TEXT NOT NULL
) STRICT;

CREATE INDEX hourbell_release_on ON hourbell_release (on_id, id);

-- Limits of jobs that run at a time, or that start per interval.

-- A limit ends when it is deleted, or when its queue, kind or key is changed; its row stays
-- with ended_at until its lanes are empty. Only puts and deletions change a row.
CREATE TABLE hourbell_job_limit (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL,
  owner       TEXT NOT NULL,
  revision    INTEGER NOT NULL, -- grows with each change
  queue       TEXT NOT NULL,    -- only jobs of this queue; empty: of any
  kind        TEXT NOT NULL,    -- only jobs of this kind; empty: of any
  by_key      INTEGER NOT NULL,
  concurrency INTEGER NOT NULL, -- permits at a time, of each key if by_key; 0: no bound
  rate        INTEGER NOT NULL, -- starts per interval; 0: no bound
  per         INTEGER NOT NULL, -- the interval of rate
  burst       INTEGER NOT NULL, -- starts at once after a rest
  weights     TEXT NOT NULL,    -- by key, as JSON; multiply concurrency
  strict      INTEGER NOT NULL, -- a job that waits for its next attempt keeps its permit
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  ended_at    INTEGER
) STRICT;

CREATE UNIQUE INDEX hourbell_job_limit_name ON hourbell_job_limit (name) WHERE ended_at IS NULL;

-- The permits of one limit and key; of a limit that is not by key, the key is empty. Rows are
-- made on demand, and deleted when they are empty and nothing has to be remembered. Under a
-- rate of a kind or of keys, a job gets a start with its permits, and its claim uses the start:
-- in permits of a job and in lanes of hourbell_vacancy, the negative number of a lane is a start.
CREATE TABLE hourbell_lane (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  limit_id   INTEGER NOT NULL,
  key        TEXT NOT NULL,
  used       INTEGER NOT NULL DEFAULT 0, -- permits of jobs, also permits in hourbell_vacancy
  starts     INTEGER NOT NULL DEFAULT 0, -- that jobs hold and no claim has used, also starts in hourbell_vacancy
  waiting    INTEGER NOT NULL DEFAULT 0, -- jobs may wait; a hint
  tat        INTEGER,                    -- of a rate: when the next start is due in theory; NULL: it has rested
  not_before INTEGER,                    -- a worker has asked that nothing starts before
  look_at    INTEGER,                    -- when waiting jobs have to be looked at, although no permit was given back
  UNIQUE (limit_id, key)
) STRICT;

CREATE INDEX hourbell_lane_look ON hourbell_lane (look_at) WHERE look_at IS NOT NULL;

-- Permits that were given back and are not passed on yet, and limits that were changed and
-- are not carried out yet.
CREATE TABLE hourbell_vacancy (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  limit_id INTEGER,                    -- all lanes of this limit are to be looked at; NULL: the lanes below
  done_to  INTEGER NOT NULL DEFAULT 0, -- with limit_id: lanes up to this number are done
  lanes    TEXT NOT NULL               -- a lane for each permit, as JSON
) STRICT;

-- Permits of limits of whole queues, which nodes hold across claims.
CREATE TABLE hourbell_node_permit (
  limit_id INTEGER NOT NULL,
  node     INTEGER NOT NULL,
  permits  INTEGER NOT NULL,
  wants    INTEGER NOT NULL, -- more permits that the node could use
  PRIMARY KEY (limit_id, node)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_node_permit_node ON hourbell_node_permit (node);

-- Events.

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

-- For how long events are kept, and the last row that was deleted. The table has one row.
CREATE TABLE hourbell_feed (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  keep    INTEGER NOT NULL,           -- 0: no events are stored
  gone_id INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Handlers: what makes jobs from what happens to jobs and schedules.
CREATE TABLE hourbell_handler (
  name       TEXT NOT NULL PRIMARY KEY,
  events     INTEGER NOT NULL, -- a set of bits; see store.HandlerEvents
  kind       TEXT NOT NULL,    -- only jobs of this kind; empty: of any
  group_name TEXT NOT NULL,    -- only jobs of this group; empty: of any
  job        TEXT NOT NULL,    -- the job that is made, as JSON
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Changes: who changed what.

CREATE TABLE hourbell_audit (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  at     INTEGER NOT NULL,
  actor  TEXT NOT NULL,
  source TEXT NOT NULL,
  action TEXT NOT NULL,
  count  INTEGER NOT NULL,
  detail TEXT NOT NULL
) STRICT;

CREATE INDEX hourbell_audit_at ON hourbell_audit (at, id);
CREATE INDEX hourbell_audit_actor ON hourbell_audit (actor, at, id);
CREATE INDEX hourbell_audit_action ON hourbell_audit (action, at, id);

-- The first subjects of each entry.
CREATE TABLE hourbell_audit_subject (
  entry_id INTEGER NOT NULL,
  place    INTEGER NOT NULL, -- from 0 on
  kind     TEXT NOT NULL,
  name     TEXT NOT NULL,
  PRIMARY KEY (entry_id, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_audit_subject_name ON hourbell_audit_subject (kind, name, entry_id);

-- Statistics: what nodes have counted.

-- Each writer has rows of its own.
CREATE TABLE hourbell_stats (
  span   INTEGER NOT NULL, -- in seconds
  at     INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  data   BLOB NOT NULL,
  PRIMARY KEY (span, at, writer)
) STRICT, WITHOUT ROWID;

-- Nodes.

-- Every node that ever registered, until it is pruned.
CREATE TABLE hourbell_node (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  version    TEXT NOT NULL,
  host       TEXT NOT NULL DEFAULT '',   -- on which the node runs
  labels     TEXT NOT NULL DEFAULT '[]', -- what its operator says of it: JSON array of KEY=VALUE
  queues     TEXT NOT NULL,              -- JSON array
  kinds      TEXT NOT NULL,              -- JSON array
  zones      TEXT NOT NULL DEFAULT '[]', -- the data of the time zones in use: JSON array of ZONE=FINGERPRINT
  -- What is wrong with the node, as the node reports it: JSON array of objects with name, subject,
  -- text and since; NULL: nothing.
  problems   TEXT,
  lease      INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  ended_at   INTEGER,
  died       INTEGER NOT NULL DEFAULT 0,
  beats      INTEGER NOT NULL DEFAULT 0  -- how many heartbeats the node has sent
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

-- The first rows.

INSERT INTO hourbell_counter (name, value) VALUES ('token', 0), ('revision', 0);
INSERT INTO hourbell_timeline (one, store) VALUES (1, lower(hex(randomblob(16))));
INSERT INTO hourbell_feed (one, keep) VALUES (1, 86400000000);
