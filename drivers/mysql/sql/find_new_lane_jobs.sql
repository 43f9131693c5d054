-- statement findNewLaneJobs, returns id
-- statement findOvertakingJobs, given overtaking, returns id
-- Due ready jobs of a queue that limits concern, that hold no permits, and that a claim may take, in the order of claims; or jobs among them
-- in whose lanes no job waits: they get permits before jobs that come before them and would have to wait. Locks nothing.
SELECT j.id
FROM hourbell_job AS j
WHERE j.state = 0 AND j.queue = :queue AND j.run_at <= {at(:now)} AND j.permits IS NULL AND (j.losses >= 2) = :suspects
  AND (j.kind IN (:kinds)
    OR j.kind IN (:exact_kinds) AND concat(lower(sha2(j.args, 256)), j.kind) IN (:exact))
  AND EXISTS (SELECT 1 FROM hourbell_job_limit AS t WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> _utf8mb4'') AND {in_scope(t.queue, t.kind, t.by_key, j)})
  AND NOT EXISTS (SELECT 1 FROM hourbell_job_limit AS t                                                                         -- if overtaking
    STRAIGHT_JOIN hourbell_lane AS l FORCE INDEX (hourbell_lane_of) ON l.limit_id = t.id AND l.`key` = IF(t.by_key, j.job_key, _utf8mb4'')     -- if overtaking
    WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> _utf8mb4'') AND {in_scope(t.queue, t.kind, t.by_key, j)} AND l.waiting)  -- if overtaking
ORDER BY j.priority, j.run_at, j.id LIMIT :limit
