-- The tables, in this order: bookkeeping, schedules, jobs, jobs that follow other jobs, limits,
-- events, changes, nodes, locks. The first rows are at the end.
--
-- All instants are DATETIME(6) in UTC, NULL for none; all durations are microseconds. States,
-- outcomes, origins, events and on_loss have the numbers of package store. Names are
-- compared by their bytes. hourbell_schema_version, which has the steps, is created before the
-- first step.
--
-- Each statement commits by itself, because the server commits before and after each statement
-- of this kind. A step that was interrupted is begun again from its first statement, so
-- each statement does nothing if it was done before.

-- Bookkeeping.

-- Numbers that only grow. token: the last number that was given to a claim; revision: the
-- last number that was given to a schedule, a calendar or a limit; node, event: the last number
-- of a node or an event; event_gone: the last event that was deleted. pause and limit are locked
-- by changes of pauses and limits.
CREATE TABLE IF NOT EXISTS hourbell_counter (
  name  VARCHAR(20) NOT NULL PRIMARY KEY,
  value BIGINT NOT NULL
) {table};

-- How nodes find out that the store went back in time: a backup was restored. The last
-- token and the last node are compared with the numbers that nodes have seen. The table
-- has one row.
CREATE TABLE IF NOT EXISTS hourbell_timeline (
  one           TINYINT NOT NULL PRIMARY KEY CHECK (one = 1),
  store         VARCHAR(64) NOT NULL,      -- identifies the store
  accepted      BIGINT NOT NULL DEFAULT 0, -- how many losses of history were accepted
  lost_at       DATETIME(6),               -- since when a loss waits to be accepted
  seen_token    BIGINT NOT NULL DEFAULT 0, -- the greatest numbers that nodes reported
  seen_node     BIGINT NOT NULL DEFAULT 0,
  seen_accepted BIGINT NOT NULL DEFAULT 0
) {table};

-- Wake-ups for other processes: each process raises the numbers of its own row.
CREATE TABLE IF NOT EXISTS hourbell_wake (
  source    BIGINT NOT NULL PRIMARY KEY,
  jobs      BIGINT NOT NULL DEFAULT 0,
  schedules BIGINT NOT NULL DEFAULT 0,
  cancels   BIGINT NOT NULL DEFAULT 0,
  at        DATETIME(6) NOT NULL
) {table};

-- Schedules.

CREATE TABLE IF NOT EXISTS hourbell_schedule (
  id                 BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name               VARCHAR(200) NOT NULL,
  owner              VARCHAR(250) NOT NULL,
  revision           BIGINT NOT NULL,            -- grows with each change
  definition         LONGBLOB NOT NULL,
  anchor             DATETIME(6) NOT NULL,       -- from which intervals are counted
  mark               DATETIME(6) NOT NULL,       -- slots up to here are accounted for
  next_at            DATETIME(6),                -- the next slot, or when to look at the schedule
  fired              BIGINT NOT NULL DEFAULT 0,  -- how many slots made a job
  paused_at          DATETIME(6),
  paused_until       DATETIME(6),                -- when a pause ends by itself
  paused_declared    TINYINT NOT NULL DEFAULT 0, -- whether the last put declared a pause
  created_at         DATETIME(6) NOT NULL,
  updated_at         DATETIME(6) NOT NULL,
  deleted_at         DATETIME(6),                -- a tombstone keeps the name, the number and the mark
  group_name         VARCHAR(200),               -- NULL: none
  group_paused_at    DATETIME(6),                -- what the schedule has of the pause of its group
  group_paused_until DATETIME(6),
  releases           TINYINT NOT NULL DEFAULT 0, -- the ends of its jobs leave rows in hourbell_release
  UNIQUE KEY hourbell_schedule_name (name),
  KEY hourbell_schedule_due (next_at, id),
  KEY hourbell_schedule_owner (owner),
  KEY hourbell_schedule_group (group_name)
) {table};

-- A row means that the schedule fails.
CREATE TABLE IF NOT EXISTS hourbell_failing (
  schedule_id BIGINT NOT NULL PRIMARY KEY,
  since       DATETIME(6) NOT NULL,
  failures    BIGINT NOT NULL DEFAULT 0 -- in a row
) {table};

-- The version of an owner's schedules that is in force.
CREATE TABLE IF NOT EXISTS hourbell_owner (
  name      VARCHAR(250) NOT NULL PRIMARY KEY,
  revision  BIGINT NOT NULL,                  -- of the last sync
  digest    VARCHAR(200) NOT NULL DEFAULT '', -- of the version; empty: not known
  host      VARCHAR(200) NOT NULL DEFAULT '', -- whose copy brought the version; empty: of a caller without a host
  synced_at DATETIME(6)                       -- when the version came into force
) {table};

-- The copies of an owner's schedules that hosts declare.
CREATE TABLE IF NOT EXISTS hourbell_copy (
  owner      VARCHAR(250) NOT NULL,
  host       VARCHAR(200) NOT NULL,
  path       LONGTEXT NOT NULL,
  digest     VARCHAR(200) NOT NULL,
  revision   BIGINT NOT NULL,
  changed_at DATETIME(6) NOT NULL, -- when this content was declared first
  PRIMARY KEY (owner, host)
) {table};

-- Calendars, which schedules share by name.
CREATE TABLE IF NOT EXISTS hourbell_calendar (
  name       VARCHAR(200) NOT NULL PRIMARY KEY,
  revision   BIGINT NOT NULL,
  definition LONGBLOB NOT NULL,
  updated_at DATETIME(6) NOT NULL
) {table};

-- Which schedules name which calendars. A row whose schedule is a tombstone has no effect.
CREATE TABLE IF NOT EXISTS hourbell_calendar_use (
  calendar    VARCHAR(200) NOT NULL,
  schedule_id BIGINT NOT NULL,
  PRIMARY KEY (calendar, schedule_id),
  KEY hourbell_calendar_use_schedule (schedule_id)
) {table};

-- Slots that are accounted for: each row has one slot, or count slots from slot to last.
CREATE TABLE IF NOT EXISTS hourbell_slot (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  schedule_id BIGINT NOT NULL,
  slot        DATETIME(6) NOT NULL,
  last        DATETIME(6) NOT NULL,
  count       BIGINT NOT NULL,
  outcome     SMALLINT NOT NULL, -- 0 fired, 1 missed, 2 skipped
  reason      LONGTEXT NOT NULL,
  job_id      BIGINT,
  recorded_at DATETIME(6) NOT NULL,
  -- Generated columns stand for the conditions of partial indexes.
  fired_slot  DATETIME(6) AS (CASE WHEN outcome = 0 THEN slot END) VIRTUAL,
  spans_to    DATETIME(6) AS (CASE WHEN count > 1 THEN last END) VIRTUAL,
  UNIQUE KEY hourbell_slot_fired (schedule_id, fired_slot),
  KEY hourbell_slot_schedule (schedule_id, slot),
  KEY hourbell_slot_time (slot),
  KEY hourbell_slot_recorded (recorded_at),
  KEY hourbell_slot_spans (spans_to)
) {table};

-- Schedules that follow other schedules instead of a rule: which follow which. A row whose
-- schedule is a tombstone has no effect.
CREATE TABLE IF NOT EXISTS hourbell_chain (
  predecessor VARCHAR(200) NOT NULL, -- by name, also of a schedule that does not exist
  schedule_id BIGINT NOT NULL,       -- the dependent
  PRIMARY KEY (predecessor, schedule_id),
  KEY hourbell_chain_schedule (schedule_id)
) {table};

-- Ends of jobs of predecessors, each a slot of a dependent.
CREATE TABLE IF NOT EXISTS hourbell_chain_end (
  schedule_id BIGINT NOT NULL, -- the dependent
  slot        DATETIME(6) NOT NULL,
  job_id      BIGINT NOT NULL, -- the job that ended
  ended_at    DATETIME(6) NOT NULL,
  state       SMALLINT NOT NULL,
  paused      TINYINT NOT NULL, -- the predecessor was paused
  open        TINYINT NOT NULL, -- the dependent has not accounted for it
  predecessor VARCHAR(200) NOT NULL,
  reason      LONGTEXT NOT NULL,
  PRIMARY KEY (schedule_id, slot),
  KEY hourbell_chain_end_open (schedule_id, open, slot),
  KEY hourbell_chain_end_job (schedule_id, job_id),
  KEY hourbell_chain_end_slot (slot)
) {table};

-- Pauses of groups, queues, kinds and keys. A pause that has ended stays until all jobs that
-- were parked for it are ready again.
CREATE TABLE IF NOT EXISTS hourbell_pause (
  subject   SMALLINT NOT NULL, -- 0 a group, 1 a queue, 2 a kind, 3 a key
  name      VARCHAR(200) NOT NULL,
  paused_at DATETIME(6) NOT NULL,
  until     DATETIME(6),       -- when it ends, or has ended; NULL: never
  reason    LONGTEXT NOT NULL,
  actor     LONGTEXT NOT NULL,
  touched   TINYINT NOT NULL DEFAULT 0, -- as in hourbell_job
  PRIMARY KEY (subject, name)
) {table};

-- Jobs.

-- Live jobs.
--
-- An update that makes a row longer moves the row, and the server logs the page. NULL takes no
-- place, so that columns that each claim sets have a value before: no node has the number 0, and
-- no attempt began in 1970. Inserts leave out what most jobs have: the other defaults are the
-- literals of usualJob in the driver.
CREATE TABLE IF NOT EXISTS hourbell_job (
  id           BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  run_at       DATETIME(6) NOT NULL,
  created_at   DATETIME(6) NOT NULL,
  started_at   DATETIME(6) DEFAULT '1970-01-01 00:00:00.000000', -- of the last attempt
  slot         DATETIME(6),
  schedule_id  BIGINT,
  batch        BIGINT,
  node         BIGINT DEFAULT 0,              -- of the last claim, which holds the job while state = 2
  token        BIGINT NOT NULL DEFAULT 0,     -- of the last claim
  timeout      BIGINT NOT NULL DEFAULT 0,
  priority     SMALLINT NOT NULL DEFAULT 5,
  -- 0 ready, 1 waiting, 2 running. Ready jobs that are out of the way of claims: -1 parked, because
  -- its group or the like is paused; -2 waits for a permit; -3 the same, and it goes first within
  -- its priority, because it was claimed before.
  state        TINYINT NOT NULL DEFAULT 0,
  attempt      SMALLINT NOT NULL DEFAULT 0,
  max_attempts SMALLINT NOT NULL DEFAULT 25,
  on_loss      SMALLINT NOT NULL DEFAULT 0,
  origin       SMALLINT NOT NULL DEFAULT 0,
  losses       SMALLINT NOT NULL DEFAULT 0,   -- in a row; with 2 losses the job is a suspect
  refunds      SMALLINT NOT NULL DEFAULT 0,   -- attempts that were refunded after lost leases
  begun        TINYINT NOT NULL DEFAULT 1,    -- whether the last claim may have begun
  releases     TINYINT NOT NULL DEFAULT 0,    -- its end leaves a row in hourbell_release
  rare         TINYINT NOT NULL DEFAULT 0,    -- whether the job has a row in hourbell_job_rare
  touched      TINYINT NOT NULL DEFAULT 0,    -- in a cluster, changed by transactions that depend on the row as it is
  snoozes      BIGINT,                        -- how many attempts ended with a snooze; NULL: none
  waits        INT,                           -- how many open edges it waits for; NULL: it does not wait for jobs
  lane         BIGINT,                        -- in which the job waits for a permit, with state -2 or -3
  permits      LONGTEXT,                      -- the lanes whose permits the job holds, as JSON; NULL: none
  queue        VARCHAR(200) NOT NULL DEFAULT 'default',
  kind         VARCHAR(200) NOT NULL,
  group_name   VARCHAR(200),                  -- NULL: none
  job_key      VARCHAR(200),                  -- NULL: none
  unique_key   VARCHAR(200),                  -- no two live jobs of a kind share a key
  args         LONGBLOB NOT NULL,
  headers      LONGBLOB,
  -- The claim: one priority after the other, each in its own order. The index has the running jobs,
  -- too, which are few, by node. With the kind, a claim passes due jobs of kinds that it does not take by the index alone.
  KEY hourbell_job_ready (state, queue, priority, run_at, id, node, kind)
) {table};

-- Live jobs that have a schedule, a group, a key, a unique key or a batch, that were lost, or that
-- have waited in a lane: each row is a copy of columns of its job, for the indexes. An index of
-- InnoDB has an entry for each row, also for NULL, which most jobs would pay for. A job that has got
-- a row keeps it to its end.
CREATE TABLE IF NOT EXISTS hourbell_job_rare (
  job_id      BIGINT NOT NULL PRIMARY KEY,
  run_at      DATETIME(6) NOT NULL,
  slot        DATETIME(6),
  schedule_id BIGINT,
  batch       BIGINT,
  lane        BIGINT,
  priority    SMALLINT NOT NULL,
  state       TINYINT NOT NULL,
  losses      SMALLINT NOT NULL,
  group_name  VARCHAR(200),
  job_key     VARCHAR(200),
  -- The kind. It is NULL without a unique key, because Galera compares NULL like a value if another
  -- column of the key is not NULL.
  unique_kind VARCHAR(200),
  unique_key  VARCHAR(200),
  UNIQUE KEY hourbell_rare_unique (unique_kind, unique_key),
  KEY hourbell_rare_schedule (schedule_id, state, slot, job_id),
  KEY hourbell_rare_group (group_name, state, run_at, job_id),
  KEY hourbell_rare_key (job_key, state, run_at, job_id),
  KEY hourbell_rare_batch (batch, job_id),
  KEY hourbell_rare_lane (lane, priority, state, run_at, job_id),
  KEY hourbell_rare_losses (losses)
) {table};

-- Finished jobs.
CREATE TABLE IF NOT EXISTS hourbell_history (
  id           BIGINT NOT NULL PRIMARY KEY,
  run_at       DATETIME(6) NOT NULL,
  created_at   DATETIME(6) NOT NULL,
  started_at   DATETIME(6),
  finished_at  DATETIME(6) NOT NULL,
  keep_until   DATETIME(6),           -- of jobs of kinds with a retention of their own
  slot         DATETIME(6),
  schedule_id  BIGINT,
  batch        BIGINT,
  node         BIGINT,
  token        BIGINT NOT NULL,
  timeout      BIGINT NOT NULL,
  priority     SMALLINT NOT NULL,
  state        TINYINT NOT NULL,      -- 3 completed, 4 failed, 5 cancelled, 6 not started
  attempt      SMALLINT NOT NULL,
  max_attempts SMALLINT NOT NULL,
  on_loss      SMALLINT NOT NULL,
  origin       SMALLINT NOT NULL,
  losses       SMALLINT NOT NULL DEFAULT 0,
  releases     TINYINT NOT NULL DEFAULT 0,
  snoozes      BIGINT,
  queue        VARCHAR(200) NOT NULL,
  kind         VARCHAR(200) NOT NULL,
  group_name   VARCHAR(200),
  job_key      VARCHAR(200),
  unique_key   VARCHAR(200),          -- a retry takes the key back
  node_name    VARCHAR(200) NOT NULL, -- stays when the row of the node is pruned
  reason       LONGTEXT NOT NULL,
  args         LONGBLOB NOT NULL,
  headers      LONGBLOB,
  result       LONGTEXT,              -- what the attempt that ended the job left: JSON; NULL: nothing
  -- The index of jobs by their end has jobs with a retention of their own apart, so that pruning
  -- meets only the jobs of one sort. Listings find jobs that did not complete by failed.
  own_keep     TINYINT AS (keep_until IS NOT NULL) VIRTUAL,
  failed       TINYINT AS (CASE WHEN state >= 4 THEN 1 END) VIRTUAL,
  KEY hourbell_history_finished (state, own_keep, finished_at),
  KEY hourbell_history_keep (keep_until),
  KEY hourbell_history_schedule (schedule_id),
  KEY hourbell_history_of_batch (batch, id),
  KEY hourbell_history_failed (failed, id, finished_at)
) {table};

-- Unique keys that stay taken after the end of their jobs. A row has an effect until its
-- instant; then the next insert with the key replaces the row, or it is pruned.
CREATE TABLE IF NOT EXISTS hourbell_key_hold (
  kind       VARCHAR(200) NOT NULL,
  unique_key VARCHAR(200) NOT NULL,
  job_id     BIGINT NOT NULL,
  until      DATETIME(6) NOT NULL,
  PRIMARY KEY (kind, unique_key),
  KEY hourbell_key_hold_until (until),
  KEY hourbell_key_hold_job (job_id, until)
) {table};

-- Attempts that did not complete, or left output, of live and of finished jobs.
CREATE TABLE IF NOT EXISTS hourbell_attempt (
  job_id      BIGINT NOT NULL,
  token       BIGINT NOT NULL,
  attempt     SMALLINT NOT NULL,
  node        VARCHAR(200) NOT NULL,
  started_at  DATETIME(6),
  finished_at DATETIME(6) NOT NULL,
  outcome     SMALLINT NOT NULL DEFAULT 0, -- how the attempt ended
  error       LONGTEXT NOT NULL,
  trace       LONGTEXT NOT NULL,
  output      LONGBLOB NOT NULL,
  printed     BIGINT NOT NULL DEFAULT 0,   -- how many bytes the attempt printed; less than output has: as many
  PRIMARY KEY (job_id, token)
) {table};

-- The output of attempts that run, in blocks: the newest blocks of each. The end of an
-- attempt deletes its rows, and the record of the attempt keeps the output from then on.
CREATE TABLE IF NOT EXISTS hourbell_output (
  job_id BIGINT NOT NULL,
  token  BIGINT NOT NULL,
  block  BIGINT NOT NULL, -- byte 4096*block of the output is the first of data
  data   LONGBLOB NOT NULL,
  PRIMARY KEY (job_id, token, block)
) {table};

-- The progress that attempts reported, of live and of finished jobs: one row for each job
-- that has reported any. A row with another token than its job belongs to an attempt before
-- the last.
CREATE TABLE IF NOT EXISTS hourbell_progress (
  job_id BIGINT NOT NULL PRIMARY KEY,
  token  BIGINT NOT NULL,
  at     DATETIME(6) NOT NULL,
  done   BIGINT NOT NULL,
  total  BIGINT NOT NULL, -- 0: not known
  stuck  DATETIME(6),     -- since when the context of the attempt has ended, if its worker was found not to return
  note   LONGTEXT NOT NULL
) {table};

-- What jobs remember from one attempt to the next.
CREATE TABLE IF NOT EXISTS hourbell_step (
  job_id    BIGINT NOT NULL,
  name      VARCHAR(200) NOT NULL,
  sort      SMALLINT NOT NULL,
  place     INT NOT NULL,         -- among the steps of the job, from 1 on; 0: a signal for which the job has not waited yet
  version   INT NOT NULL,         -- of the program that stored the step first (StepsVersion)
  value     LONGTEXT NOT NULL,    -- JSON; empty: none
  waits     BOOLEAN NOT NULL,     -- the wait has not ended
  until     DATETIME(6),          -- when the wait ends; NULL: when the signal comes
  timed_out BOOLEAN NOT NULL,     -- the wait for a signal ended at until
  at        DATETIME(6) NOT NULL, -- when the step was stored last
  PRIMARY KEY (job_id, name)
) {table};

-- Requests to cancel running jobs.
CREATE TABLE IF NOT EXISTS hourbell_cancel_request (
  job_id       BIGINT NOT NULL PRIMARY KEY,
  requested_at DATETIME(6) NOT NULL,
  reason       LONGTEXT NOT NULL
) {table};

-- Jobs that follow other jobs.

-- Jobs that were enqueued together.
CREATE TABLE IF NOT EXISTS hourbell_batch (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  created_at  DATETIME(6) NOT NULL,
  finally_id  BIGINT,   -- its last job, which waits for all others; NULL: none
  finally_on  SMALLINT, -- what the last job waits for, as in hourbell_edge
  finally_any TINYINT
) {table};

-- An edge: a job waits for the end of another job, its predecessor.
CREATE TABLE IF NOT EXISTS hourbell_edge (
  on_id  BIGINT NOT NULL,            -- the predecessor
  job_id BIGINT NOT NULL,            -- the job that waits
  delay  BIGINT NOT NULL,
  `on`   SMALLINT NOT NULL,          -- 0 success, 1 failure, 2 either
  state  SMALLINT NOT NULL,          -- 0 open, 1 matched, 2 missed
  any_of TINYINT NOT NULL,           -- one matched edge of the job is enough
  at_end TINYINT NOT NULL DEFAULT 0, -- the job waits until no edge is open
  since  BIGINT,                     -- rows of hourbell_release before this one do not concern the edge; NULL: all do
  PRIMARY KEY (on_id, job_id),
  KEY hourbell_edge_job (job_id, on_id)
) {table};

-- Predecessors that have ended, with dependents that are not released yet. A retry by hand of a
-- job that others follow leaves a row with state 1, so that dependents that were not started
-- wait again.
CREATE TABLE IF NOT EXISTS hourbell_release (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  on_id       BIGINT NOT NULL,
  schedule_id BIGINT,                    -- whose dependents have to account for the end; NULL: none
  done_to     BIGINT NOT NULL DEFAULT 0, -- dependents up to this number are released
  first_id    BIGINT,                    -- a row that was left for later keeps the number of the first row
  ended_at    DATETIME(6) NOT NULL,
  state       SMALLINT NOT NULL,         -- in which the predecessor ended
  reason      LONGTEXT NOT NULL,
  KEY hourbell_release_on (on_id, id)
) {table};

-- Limits of jobs that run at a time, or that start per interval.

-- A limit ends when it is deleted, or when its queue, kind or key is changed; its row stays with
-- ended_at until its lanes are empty. Only puts and deletions change a row.
CREATE TABLE IF NOT EXISTS hourbell_job_limit (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name        VARCHAR(200) NOT NULL,
  owner       VARCHAR(250) NOT NULL,
  revision    BIGINT NOT NULL,       -- grows with each change
  queue       VARCHAR(200) NOT NULL, -- only jobs of this queue; empty: of any
  kind        VARCHAR(200) NOT NULL, -- only jobs of this kind; empty: of any
  by_key      TINYINT NOT NULL,
  concurrency BIGINT NOT NULL,       -- permits at a time, of each key if by_key; 0: no bound
  rate        BIGINT NOT NULL,       -- starts per interval; 0: no bound
  per         BIGINT NOT NULL,       -- the interval of rate
  burst       BIGINT NOT NULL,       -- starts at once after a rest
  weights     LONGTEXT NOT NULL,     -- by key, as JSON; multiply concurrency
  strict      TINYINT NOT NULL,      -- a job that waits for its next attempt keeps its permit
  created_at  DATETIME(6) NOT NULL,
  updated_at  DATETIME(6) NOT NULL,
  ended_at    DATETIME(6),
  touched     TINYINT NOT NULL DEFAULT 0, -- as in hourbell_job
  live_name   VARCHAR(200) AS (CASE WHEN ended_at IS NULL THEN name END) VIRTUAL,
  UNIQUE KEY hourbell_job_limit_name (live_name)
) {table};

-- The permits of one limit and key; of a limit that is not by key, the key is empty. Rows are made
-- on demand, and deleted when they are empty and nothing has to be remembered. Under a rate of a kind
-- or of keys, a job gets a start with its permits, and its claim uses the start.
CREATE TABLE IF NOT EXISTS hourbell_lane (
  id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  limit_id   BIGINT NOT NULL,
  `key`      VARCHAR(200) NOT NULL,
  used       BIGINT NOT NULL DEFAULT 0,  -- permits of jobs, also permits in hourbell_vacancy
  starts     BIGINT NOT NULL DEFAULT 0,  -- that jobs hold and no claim has used, also starts in hourbell_vacancy
  waiting    TINYINT NOT NULL DEFAULT 0, -- jobs may wait; a hint
  tat        DATETIME(6),                -- of a rate: when the next start is due in theory; NULL: it has rested
  not_before DATETIME(6),                -- a worker has asked that nothing starts before
  look_at    DATETIME(6),                -- when waiting jobs have to be looked at, although no permit was given back
  touched    TINYINT NOT NULL DEFAULT 0, -- as in hourbell_job
  UNIQUE KEY hourbell_lane_of (limit_id, `key`),
  KEY hourbell_lane_look (look_at, id)
) {table};

-- Permits that were given back and are not passed on yet, and limits that were changed and are
-- not carried out yet.
CREATE TABLE IF NOT EXISTS hourbell_vacancy (
  id       BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  limit_id BIGINT,                    -- all lanes of this limit are to be looked at; NULL: the lanes below
  done_to  BIGINT NOT NULL DEFAULT 0, -- with limit_id: lanes up to this number are done
  lanes    LONGTEXT NOT NULL          -- a lane for each permit, its negative number for each start, as JSON
) {table};

-- Permits of limits of whole queues, which nodes hold across claims.
CREATE TABLE IF NOT EXISTS hourbell_node_permit (
  limit_id BIGINT NOT NULL,
  node     BIGINT NOT NULL,
  permits  BIGINT NOT NULL,
  wants    BIGINT NOT NULL, -- more permits that the node could use
  PRIMARY KEY (limit_id, node),
  KEY hourbell_node_permit_node (node)
) {table};

-- Events.

-- What happened to jobs and schedules: one row for the events of one type that one
-- transaction stored.
CREATE TABLE IF NOT EXISTS hourbell_event (
  entry    BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  id       BIGINT,            -- the number that readers see; NULL: not given yet
  at       DATETIME(6) NOT NULL,
  type     SMALLINT NOT NULL, -- 3 to 6: a job ended in this state; see store.EventType
  subjects LONGTEXT NOT NULL, -- jobs or, from type 32 on, schedules: a JSON array
  slots    LONGTEXT,          -- these arrays are as long as subjects, or null
  counts   LONGTEXT,
  reasons  LONGTEXT,
  UNIQUE KEY hourbell_event_number (id)
) {table};

-- For how long events are kept. The table has one row.
CREATE TABLE IF NOT EXISTS hourbell_feed (
  one  TINYINT NOT NULL PRIMARY KEY CHECK (one = 1),
  keep BIGINT NOT NULL -- 0: no events are stored
) {table};

-- Handlers: what makes jobs from what happens to jobs and schedules.
CREATE TABLE IF NOT EXISTS hourbell_handler (
  name       VARCHAR(200) NOT NULL PRIMARY KEY,
  events     BIGINT NOT NULL,       -- a set of bits; see store.HandlerEvents
  kind       VARCHAR(200) NOT NULL, -- only jobs of this kind; empty: of any
  group_name VARCHAR(200) NOT NULL, -- only jobs of this group; empty: of any
  job        LONGTEXT NOT NULL,     -- the job that is made, as JSON
  updated_at DATETIME(6) NOT NULL
) {table};

-- Changes: who changed what.

CREATE TABLE IF NOT EXISTS hourbell_audit (
  id     BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at     DATETIME(6) NOT NULL,
  actor  VARCHAR(250) NOT NULL,
  source VARCHAR(250) NOT NULL,
  action VARCHAR(250) NOT NULL,
  count  BIGINT NOT NULL,
  detail LONGTEXT NOT NULL,
  KEY hourbell_audit_at (at, id),
  KEY hourbell_audit_actor (actor, at, id),
  KEY hourbell_audit_action (action, at, id)
) {table};

-- The first subjects of each entry.
CREATE TABLE IF NOT EXISTS hourbell_audit_subject (
  entry_id BIGINT NOT NULL,
  place    INT NOT NULL, -- from 0 on
  kind     VARCHAR(64) NOT NULL,
  name     VARCHAR(250) NOT NULL,
  PRIMARY KEY (entry_id, place),
  KEY hourbell_audit_subject_name (kind, name, entry_id)
) {table};

-- Statistics: what nodes have counted.

-- Each writer has rows of its own.
CREATE TABLE IF NOT EXISTS hourbell_stats (
  span   INT NOT NULL, -- in seconds
  at     DATETIME(6) NOT NULL,
  writer BIGINT NOT NULL,
  data   LONGBLOB NOT NULL,
  PRIMARY KEY (span, at, writer)
) {table};

-- Nodes.

-- Every node that ever registered, until it is pruned.
CREATE TABLE IF NOT EXISTS hourbell_node (
  id         BIGINT NOT NULL PRIMARY KEY,
  name       VARCHAR(200) NOT NULL,
  version    VARCHAR(200) NOT NULL,
  host       VARCHAR(200) NOT NULL DEFAULT '', -- on which the node runs
  labels     LONGTEXT NOT NULL,                -- what its operator says of it: JSON array of KEY=VALUE
  queues     LONGTEXT NOT NULL,                -- JSON array
  kinds      LONGTEXT NOT NULL,                -- JSON array
  zones      LONGTEXT NOT NULL,                -- the data of the time zones in use: JSON array of ZONE=FINGERPRINT
  -- What is wrong with the node, as the node reports it: JSON array of objects with name, subject,
  -- text and since; NULL: nothing.
  problems   LONGTEXT,
  lease      BIGINT NOT NULL,
  started_at DATETIME(6) NOT NULL,
  seen_at    DATETIME(6) NOT NULL,             -- while the node lives, hourbell_heartbeat has the current value
  ended_at   DATETIME(6),
  died       TINYINT NOT NULL DEFAULT 0,
  -- When the jobs of an ended node are to be looked at again, because open transactions had
  -- locked them; NULL: the node holds none.
  look_at    DATETIME(6),
  KEY hourbell_node_ended (ended_at, id),
  KEY hourbell_node_look (look_at)
) {table};

-- The last heartbeat of each living node. A heartbeat waits for nothing of its own node: each claim
-- holds the row of its node until it commits. Who ends a node locks its row in hourbell_node, and
-- then deletes this row.
CREATE TABLE IF NOT EXISTS hourbell_heartbeat (
  node    BIGINT NOT NULL PRIMARY KEY,
  seen_at DATETIME(6) NOT NULL,
  beats   BIGINT NOT NULL DEFAULT 0 -- how many heartbeats the node has sent
) {table};

-- Locks.
--
-- A lock is its row and the state of its name, apart from each other: the row may be deleted,
-- or belong to another program, and the token still grows. Both tables may exist already,
-- because a program can create them without the rest of the schema.

-- The row has the columns of ShedLock, and no others.
CREATE TABLE IF NOT EXISTS hourbell_lock (
  name       VARCHAR(200) NOT NULL PRIMARY KEY,
  lock_until DATETIME(6) NOT NULL,  -- held while this is later than now
  locked_at  DATETIME(6) NOT NULL,
  locked_by  VARCHAR(255) NOT NULL  -- the acquisition; empty: none yet
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hourbell_lock_state (
  name       VARCHAR(200) NOT NULL PRIMARY KEY,
  token      BIGINT NOT NULL,       -- the last token that was given; 0: none yet
  slot       DATETIME(6),           -- the last slot that was granted once per interval
  anchor     DATETIME(6),           -- the instant from which its grid counts
  step_ms    BIGINT,                -- the grid's interval
  granted_at DATETIME(6)            -- when the slot was granted
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The first rows.

INSERT IGNORE INTO hourbell_counter (name, value) VALUES
  ('token', 0), ('revision', 0), ('node', 0), ('pause', 0), ('limit', 0), ('event', 0), ('event_gone', 0);
INSERT IGNORE INTO hourbell_timeline (one, store) VALUES (1, LOWER(HEX(RANDOM_BYTES(16))));
INSERT IGNORE INTO hourbell_feed (one, keep) VALUES (1, 86400000000);
