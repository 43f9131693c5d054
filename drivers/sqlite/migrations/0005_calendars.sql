-- Calendars that schedules share by name, and which schedules name them. A row of
-- calendar_use whose schedule is a tombstone means nothing.
CREATE TABLE hourbell_calendar (
  name       TEXT PRIMARY KEY,
  revision   INTEGER NOT NULL,
  definition BLOB NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE hourbell_calendar_use (
  calendar    TEXT NOT NULL,
  schedule_id INTEGER NOT NULL,
  PRIMARY KEY (calendar, schedule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourbell_calendar_use_schedule ON hourbell_calendar_use (schedule_id);
