-- The data of the time zones in use on the node: JSON array of ZONE=FINGERPRINT.
ALTER TABLE hourbell_node ADD COLUMN zones LONGTEXT;
