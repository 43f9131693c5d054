-- shared statement readLimits, returns LimitColumns
-- All limits that have not ended, by name.
SELECT {limit_columns} FROM hourbell_job_limit WHERE ended_at IS NULL ORDER BY name
