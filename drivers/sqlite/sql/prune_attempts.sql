-- statement PruneAttempts
-- Deletes the oldest records of attempts of each job, so that at most :most records are
-- left after the next record is added.
DELETE FROM hourbell_attempt WHERE rowid IN (
  SELECT a.rowid
  FROM json_each(:ids) AS o
  CROSS JOIN hourbell_attempt AS a ON a.job_id = o.value
    AND a.token <= (SELECT t.token FROM hourbell_attempt AS t WHERE t.job_id = o.value ORDER BY t.token DESC LIMIT 1 OFFSET :most - 1))
