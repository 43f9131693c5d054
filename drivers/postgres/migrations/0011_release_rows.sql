-- Jobs that end together leave one row in release instead of a row each.

ALTER TABLE {schema}.release ADD COLUMN ids bigint[];                          -- the predecessors
ALTER TABLE {schema}.release ADD COLUMN states smallint[];                     -- in which they ended
ALTER TABLE {schema}.release ADD COLUMN reasons text[];
ALTER TABLE {schema}.release ADD COLUMN place integer NOT NULL DEFAULT 0;      -- so many of them are carried out
UPDATE {schema}.release SET ids = ARRAY[on_id], states = ARRAY[state], reasons = ARRAY[reason];
ALTER TABLE {schema}.release ALTER COLUMN ids SET NOT NULL, ALTER COLUMN states SET NOT NULL, ALTER COLUMN reasons SET NOT NULL;
ALTER TABLE {schema}.release DROP COLUMN on_id, DROP COLUMN state, DROP COLUMN reason; -- done_to is of the predecessor after place

-- An edge is updated once, when it is decided: in its page, so that no index changes.
ALTER TABLE {schema}.edge SET (fillfactor = 50);
