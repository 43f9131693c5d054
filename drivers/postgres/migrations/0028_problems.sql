-- What is wrong with the node, as the node reports it: a list of objects with name, subject, text and since.
ALTER TABLE {schema}.node ADD COLUMN problems jsonb;
