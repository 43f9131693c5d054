-- What the attempt that ended a job left as its result: JSON, kept byte for byte; NULL:
-- nothing, which takes no room in a row.

ALTER TABLE {schema}.history ADD COLUMN result text;
