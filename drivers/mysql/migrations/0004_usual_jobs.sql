-- Inserts leave out what most jobs have. The defaults are the literals of usualJob in the driver.
ALTER TABLE hourbell_job ALTER COLUMN origin SET DEFAULT 0, ALTER COLUMN state SET DEFAULT 0, ALTER COLUMN timeout SET DEFAULT 0,
  ALTER COLUMN priority SET DEFAULT 5, ALTER COLUMN max_attempts SET DEFAULT 25, ALTER COLUMN on_loss SET DEFAULT 0, ALTER COLUMN queue SET DEFAULT 'default';
