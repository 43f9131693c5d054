-- statement findOldAttempts, returns job_id token
-- The newest records of attempts, one of each job, that have to go with all records before it, so that at
-- most :most records are left after the next record is added.
SELECT d.job_id, d.token
FROM (
  SELECT o.id AS job_id, (
    SELECT t.token FROM hourbell_attempt AS t WHERE t.job_id = o.id ORDER BY t.token DESC LIMIT 1 OFFSET :skip) AS token
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o) AS d
WHERE d.token IS NOT NULL
