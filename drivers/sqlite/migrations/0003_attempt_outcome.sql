-- How each attempt ended; package store defines the numbers. Records that an older
-- release wrote have an error if the attempt failed.
ALTER TABLE hourbell_attempt ADD COLUMN outcome INTEGER NOT NULL DEFAULT 0;
UPDATE hourbell_attempt SET outcome = 1 WHERE error <> '';
