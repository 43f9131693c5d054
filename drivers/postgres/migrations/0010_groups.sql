-- Groups of schedules and jobs.

ALTER TABLE {schema}.job ADD COLUMN group_name text COLLATE "C"; -- NULL: none, which takes no room in a row
ALTER TABLE {schema}.history ADD COLUMN group_name text COLLATE "C";
ALTER TABLE {schema}.schedule ADD COLUMN group_name text COLLATE "C";

UPDATE {schema}.schedule SET group_name = nullif(definition::json ->> 'group', '') WHERE definition LIKE '{%"group":"%';

-- Jobs and schedules without a group are not in these indexes, so that they cost nothing.
CREATE INDEX job_group ON {schema}.job (group_name, state, run_at, id) WHERE group_name IS NOT NULL;
CREATE INDEX schedule_group ON {schema}.schedule (group_name) WHERE group_name IS NOT NULL;
