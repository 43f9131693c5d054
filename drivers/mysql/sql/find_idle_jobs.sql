-- statement findIdleJobs, returns id
-- Jobs that hold permits, that no node has claimed and that no living node runs, also parked jobs. :served has kinds and queues with a line feed between.
SELECT j.id FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.state IN (0, -1) AND concat(j.kind, char(10 USING utf8mb4), j.queue) NOT IN (:served)
ORDER BY j.id LIMIT :limit
