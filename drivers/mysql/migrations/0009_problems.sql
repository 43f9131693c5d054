-- What is wrong with the node, as the node reports it: JSON array of objects with name, subject, text and since.
ALTER TABLE hourbell_node ADD COLUMN problems LONGTEXT;
