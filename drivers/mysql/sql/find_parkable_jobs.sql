-- The first due jobs of a paused group or key that are not parked.
SELECT id FROM hourbell_job
WHERE group_name = :name AND state IN (0, -2, -3) AND run_at <= {at(:now)} -- if of_group
WHERE job_key = :name AND state = 0 AND run_at <= {at(:now)} -- if of_key
ORDER BY run_at, id LIMIT :limit
