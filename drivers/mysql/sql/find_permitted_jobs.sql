-- shared statement findPermittedJobs, returns id
-- Jobs after a number that a limit concerns, that hold permits and that no node has claimed, also parked jobs.
SELECT j.id FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.id > :after_id AND j.state IN (0, -1) AND {in_scope(:queue, :kind, :by_key, j)}
ORDER BY j.id LIMIT :limit
