-- Jobs of a subject that hold permits, and that no node has claimed.
SELECT j.id FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.state = 0 AND {concerns(:subject, :name, j)}
