-- Which schedules fail: a row, and since when.
CREATE TABLE hourbell_failing (
  schedule_id INTEGER PRIMARY KEY,
  since       INTEGER NOT NULL
) STRICT;
