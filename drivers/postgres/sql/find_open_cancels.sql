-- statement findOpenCancels, takes limit, returns job_id
-- Cancel requests that no run will answer, because their job is not running or runs on
-- another node. Usually the table is empty.
SELECT c.job_id FROM {schema}.cancel_request AS c
WHERE NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = c.job_id AND j.running AND j.node = c.node)
ORDER BY c.job_id LIMIT :limit::bigint
