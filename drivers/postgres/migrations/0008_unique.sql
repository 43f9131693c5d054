-- Keys that no two living jobs of a kind share. A claim changes neither column, and
-- jobs without a key are not in the index, so both cost nothing where none is used.
ALTER TABLE {schema}.job ADD COLUMN unique_key text COLLATE "C";

CREATE UNIQUE INDEX job_unique ON {schema}.job (kind, unique_key) WHERE unique_key IS NOT NULL;
