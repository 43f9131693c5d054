-- Limits of jobs that run at a time, or that start per interval.

-- A limit ends when it is deleted, or when its queue, kind or key is changed; its row stays with ended_at until its lanes are
-- empty. Only puts and deletions change a row.
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

-- The permits of one limit and key; of a limit that is not by key, the key is empty. Rows are made on demand, and deleted
-- when they are empty and nothing has to be remembered.
CREATE TABLE hourbell_lane (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  limit_id   INTEGER NOT NULL,
  key        TEXT NOT NULL,
  used       INTEGER NOT NULL DEFAULT 0, -- permits of jobs, also permits in hourbell_vacancy
  waiting    INTEGER NOT NULL DEFAULT 0, -- jobs may wait; a hint
  tat        INTEGER,                    -- of a rate: the theoretical arrival time of the next start; NULL: it has rested
  not_before INTEGER,                    -- a worker has asked that nothing starts before
  look_at    INTEGER,                    -- when waiting jobs have to be looked at, although no permit was given back
  UNIQUE (limit_id, key)
) STRICT;
CREATE INDEX hourbell_lane_look ON hourbell_lane (look_at) WHERE look_at IS NOT NULL;

-- Permits that were given back and are not passed on yet, and limits that were changed and are not carried out yet.
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

ALTER TABLE hourbell_job ADD COLUMN job_key TEXT;  -- NULL: none
ALTER TABLE hourbell_job ADD COLUMN lane INTEGER;  -- in which the job waits for a permit, with state -2 or -3
ALTER TABLE hourbell_job ADD COLUMN permits TEXT;  -- the lanes whose permits the job holds, as JSON; NULL: none
ALTER TABLE hourbell_history ADD COLUMN job_key TEXT;

-- The state of a job may be -2: ready, and out of the way of claims, because it waits for a permit; or -3: the same, and it
-- goes first within its priority, because it was claimed before.
CREATE INDEX hourbell_job_lane ON hourbell_job (lane, priority, state, run_at, id) WHERE lane IS NOT NULL;
CREATE INDEX hourbell_job_permit ON hourbell_job (id) WHERE permits IS NOT NULL;
