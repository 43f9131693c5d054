-- The numbers of the jobs whose newest attempt with an error has a text in it, between two numbers.
SELECT a.job_id AS id FROM hourbell_attempt AS a WHERE a.job_id > $2 AND a.job_id < $3 AND locate($1, a.error) > 0
    AND NOT EXISTS (SELECT 1 FROM hourbell_attempt AS n WHERE n.job_id = a.job_id AND n.token > a.token AND n.error <> _utf8mb4'')
