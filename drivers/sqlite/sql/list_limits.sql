-- shared statement listLimits, returns LimitColumns, a listing
-- Limits by name, in byte order.
SELECT {limit_columns}
FROM hourbell_job_limit
WHERE ended_at IS NULL
  AND name IN (SELECT value FROM json_each(:names)) -- if names
ORDER BY name
