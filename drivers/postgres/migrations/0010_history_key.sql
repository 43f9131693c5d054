-- A finished job keeps its key, so that a retry can take it back.
ALTER TABLE {schema}.history ADD COLUMN unique_key text COLLATE "C";
