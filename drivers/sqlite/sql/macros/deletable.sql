-- A finished job holds no key, has no live job in its batch, and is no predecessor of a live job.
(NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = $1.id AND u.until > :now)
    AND NOT ($1.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = $1.batch))
    AND NOT ($1.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = $1.id)))
