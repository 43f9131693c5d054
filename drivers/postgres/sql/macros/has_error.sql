-- The newest error of a job, by its number, has a text in it.
strpos((SELECT a.error FROM {schema}.attempt AS a WHERE a.job_id = $1 AND a.error <> '' ORDER BY a.token DESC LIMIT 1), $2) > 0
