-- shared statement findPausedPermits, returns id
-- Jobs of a subject that hold permits, and that no node has claimed, also parked jobs.
SELECT j.id FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.state IN (0, -1) AND {concerns(:subject, :name, j)}
