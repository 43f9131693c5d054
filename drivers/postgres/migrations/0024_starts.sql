-- Rates of kinds and of keys: a job gets a start with its permits, and its claim uses the start. In job.permits and in vacancy.lanes,
-- the negative number of a lane is a start.
ALTER TABLE {schema}.lane ADD COLUMN starts integer NOT NULL DEFAULT 0; -- that jobs hold and no claim has used, also starts in vacancy
