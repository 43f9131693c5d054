-- Jobs of a subject that hold permits, and that no node has claimed.
SELECT j.id FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.state = 0 AND CASE :subject WHEN 0 THEN j.group_name WHEN 1 THEN iif(substr(j.queue, 1, length(:name) + 1) = :name || '@', :name, j.queue) WHEN 2 THEN j.kind ELSE j.job_key END = :name
