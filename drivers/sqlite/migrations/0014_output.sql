-- The output of attempts that run, in blocks: the newest blocks of each. The end of an
-- attempt deletes its rows, and the record of the attempt keeps the output from then on.
CREATE TABLE hourbell_output (
  job_id INTEGER NOT NULL,
  token  INTEGER NOT NULL,
  block  INTEGER NOT NULL, -- byte 4096*block of the output is the first of data
  data   BLOB NOT NULL,
  PRIMARY KEY (job_id, token, block)
) STRICT, WITHOUT ROWID;

-- How many bytes the attempt printed; less than output has: as many.
ALTER TABLE hourbell_attempt ADD COLUMN printed INTEGER NOT NULL DEFAULT 0;
