-- statement findOvertakingJobs, returns sqlrows.LaneJobColumns
-- As lock_new_lane_jobs, jobs in whose lanes no job waits: they get permits before jobs that come before them and would have to wait.
-- It reads all due jobs of the streams, at worst.
SELECT j.id, 0 AS lane, j.token > 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM json_each(:streams) AS s CROSS JOIN json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN hourbell_job AS j ON j.id IN (
  SELECT id FROM (
    SELECT id FROM hourbell_job
    WHERE state = 0 AND queue = :queue AND kind = s.value ->> 'kind' AND digest IS unhex(s.value ->> 'digest') AND priority = p.value AND losses < 2 AND run_at <= :now
      AND s.value ->> 'digested' IS NULL AND {overtakes}
    ORDER BY run_at, id LIMIT +:limit)
  UNION ALL
  SELECT id FROM (
    SELECT id FROM hourbell_job
    WHERE state = 0 AND digest IS NOT NULL AND queue = :queue AND kind = s.value ->> 'kind' AND priority = p.value AND losses < 2 AND run_at <= :now
      AND s.value ->> 'digested' AND {overtakes}
    ORDER BY run_at, id LIMIT +:limit))
ORDER BY j.priority, j.run_at, j.id LIMIT +:limit
