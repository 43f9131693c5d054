-- Groups of schedules and jobs.

ALTER TABLE hourbell_job ADD COLUMN group_name TEXT; -- NULL: none
ALTER TABLE hourbell_history ADD COLUMN group_name TEXT;
ALTER TABLE hourbell_schedule ADD COLUMN group_name TEXT;

UPDATE hourbell_schedule SET group_name = nullif(json_extract(CAST(definition AS TEXT), '$.group'), '')
WHERE json_valid(CAST(definition AS TEXT));

-- Jobs and schedules without a group are not in these indexes.
CREATE INDEX hourbell_job_group ON hourbell_job (group_name, state, run_at, id) WHERE group_name IS NOT NULL;
CREATE INDEX hourbell_schedule_group ON hourbell_schedule (group_name) WHERE group_name IS NOT NULL;
