-- Due ready jobs of a queue that limits concern, that hold no permits, and that a claim may take, in the order of claims. Locks nothing.
SELECT j.id
FROM hourbell_job AS j
WHERE j.state = 0 AND j.queue = :queue AND j.run_at <= {at(:now)} AND j.permits IS NULL AND (j.losses >= 2) = :suspects
  AND (j.kind IN (:kinds)
    OR j.kind IN (:exact_kinds) AND concat(lower(sha2(j.args, 256)), j.kind) IN (:exact))
  AND EXISTS (SELECT 1 FROM hourbell_job_limit AS t WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> _utf8mb4'') AND {in_scope(t.queue, t.kind, t.by_key, j)})
ORDER BY j.priority, j.run_at, j.id LIMIT :limit
