-- How many attempts of a job ended with a snooze; NULL: none, which takes no room in a row.

ALTER TABLE {schema}.job ADD COLUMN snoozes bigint;
ALTER TABLE {schema}.history ADD COLUMN snoozes bigint;
