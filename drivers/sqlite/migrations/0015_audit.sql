-- Who changed what.

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
