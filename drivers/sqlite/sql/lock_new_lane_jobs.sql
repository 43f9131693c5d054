-- Due ready jobs of a queue that limits concern, that hold no permits, and that a claim may take, in the order of claims. :exact has
-- the args that lie in :bytes.
SELECT j.id, 0 AS lane, j.token > 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM hourbell_job AS j
WHERE j.state = 0 AND j.queue = :queue AND j.run_at <= :now AND j.permits IS NULL AND (j.losses >= 2) = :suspects
  AND (j.kind IN (SELECT value FROM json_each(:kinds))
    OR j.kind IN (SELECT value ->> 'kind' FROM jsonb_each(:exact))
      AND (j.kind, j.args) IN (SELECT value ->> 'kind', substr(:bytes, value ->> 'at', value ->> 'len') FROM jsonb_each(:exact)))
  AND EXISTS (SELECT 1 FROM hourbell_job_limit AS t WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, j)})
ORDER BY j.priority, j.run_at, j.id LIMIT +:limit
