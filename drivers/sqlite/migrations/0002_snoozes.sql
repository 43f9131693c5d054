-- How many attempts of a job ended with a snooze; NULL: none.

ALTER TABLE hourbell_job ADD COLUMN snoozes INTEGER;
ALTER TABLE hourbell_history ADD COLUMN snoozes INTEGER;
