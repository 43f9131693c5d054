-- shared statement listLimits, returns LimitColumns, a listing
-- Limits by name, in byte order.
SELECT {limit_columns}
FROM hourbell_job_limit
WHERE ended_at IS NULL
  AND name IN (:names) -- if names
ORDER BY name
