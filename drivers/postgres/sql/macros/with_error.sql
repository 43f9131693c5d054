-- The numbers of the jobs whose newest attempt with an error has a text in it, between two numbers; NULL: no bound.
SELECT a.job_id FROM {schema}.attempt AS a WHERE strpos(a.error, $1) > 0
    AND ($2::bigint IS NULL OR a.job_id > $2) AND ($3::bigint IS NULL OR a.job_id < $3)
    AND NOT EXISTS (SELECT FROM {schema}.attempt AS n WHERE n.job_id = a.job_id AND n.token > a.token AND n.error <> '')
