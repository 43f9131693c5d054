-- The version of an owner's schedules that is in force, and the copies of it that hosts declare.
ALTER TABLE hourbell_owner ADD COLUMN digest TEXT NOT NULL DEFAULT ''; -- of the version in force; empty: not known
ALTER TABLE hourbell_owner ADD COLUMN host TEXT NOT NULL DEFAULT '';   -- whose copy brought it; empty: of a caller without a host
ALTER TABLE hourbell_owner ADD COLUMN synced_at INTEGER;               -- when it came into force

-- The revision of a crontab was the time of its file, in microseconds; now it has none.
UPDATE hourbell_owner SET revision = 0 WHERE revision >= 1000000000000000;

CREATE TABLE hourbell_copy (
  owner      TEXT NOT NULL,
  host       TEXT NOT NULL,
  path       TEXT NOT NULL,
  digest     TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  changed_at INTEGER NOT NULL, -- when this content was declared first
  PRIMARY KEY (owner, host)
) STRICT, WITHOUT ROWID;
