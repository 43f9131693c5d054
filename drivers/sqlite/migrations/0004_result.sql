-- What the attempt that ended a job left as its result: JSON; NULL: nothing.

ALTER TABLE hourbell_history ADD COLUMN result TEXT;
