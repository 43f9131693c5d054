-- A finished job keeps its key, so that a retry can take it back.
ALTER TABLE hourbell_history ADD COLUMN unique_key TEXT;
