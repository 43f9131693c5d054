-- Since when the context of the attempt has ended, if its worker was found not to return.
ALTER TABLE {schema}.progress ADD COLUMN stuck timestamptz;
