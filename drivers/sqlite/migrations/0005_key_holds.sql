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
