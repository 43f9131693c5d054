-- Schedules that fail from now on.
INSERT OR REPLACE INTO hourbell_failing (schedule_id, since) SELECT value, :now FROM json_each(:ids)
