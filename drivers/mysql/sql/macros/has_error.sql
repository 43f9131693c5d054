-- The newest error of a job, by its number, has a text in it.
locate($2, (SELECT a.error FROM hourbell_attempt AS a WHERE a.job_id = $1 AND a.error <> _utf8mb4'' ORDER BY a.token DESC LIMIT 1)) > 0
