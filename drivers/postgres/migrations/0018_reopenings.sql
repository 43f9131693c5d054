-- Jobs that were not started wait again if a job that they follow is retried by hand.

ALTER TABLE {schema}.edge ADD COLUMN since bigint;       -- rows of release before this one do not concern the edge; NULL: all do
ALTER TABLE {schema}.release ADD COLUMN first_id bigint; -- the number of the row that first had the note; NULL: this row

-- Retries by hand: rows in whose states all are 1.
CREATE INDEX release_retried ON {schema}.release (id) WHERE states[1] = 1;
