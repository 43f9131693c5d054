-- statement findParkableOfKey, given of_key, returns id
-- statement findParkableOfGroup, given of_group, returns id
-- The first due jobs of a paused group or key that are not parked.
SELECT job_id AS id FROM hourbell_job_rare
WHERE group_name = :name AND state IN (0, -2, -3) AND run_at <= {at(:now)} -- if of_group
WHERE job_key = :name AND state = 0 AND run_at <= {at(:now)} -- if of_key
ORDER BY run_at, job_id LIMIT :limit
