-- Jobs of kinds with a retention of their own: until when they are kept. These jobs are
-- noted, so that history_finished does not have them, although no row of history_batch does.
ALTER TABLE {schema}.history ADD COLUMN keep_until timestamptz;
CREATE INDEX history_keep ON {schema}.history (keep_until, id) WHERE keep_until IS NOT NULL;
