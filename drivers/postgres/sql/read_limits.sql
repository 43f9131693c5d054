-- statement readLimits, returns limitColumns
-- All limits that have not ended, by name.
SELECT {limit_columns} FROM {schema}.job_limit WHERE ended_at IS NULL ORDER BY name
