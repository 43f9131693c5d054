-- How each attempt ended; package store defines the numbers. Records that an older
-- release wrote have an error if the attempt failed.
ALTER TABLE {schema}.attempt ADD COLUMN outcome smallint NOT NULL DEFAULT 0;
UPDATE {schema}.attempt SET outcome = 1 WHERE error <> '';
