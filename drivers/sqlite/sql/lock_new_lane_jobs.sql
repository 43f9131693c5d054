-- statement lockNewLaneJobs, returns sqlrows.LaneJobColumns
-- Due ready jobs that limits concern, that hold no permits, and that a claim may take, in the order of claims. It reads the first :scan
-- jobs of each stream and priority, because what lies behind them is not needed yet. Streams are as in claim_jobs.
SELECT j.id, 0 AS lane, j.token > 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM json_each(:streams) AS s CROSS JOIN json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN hourbell_job AS j ON j.id IN (
  SELECT id FROM (
    SELECT id FROM hourbell_job
    WHERE state = 0 AND queue = :queue AND kind = s.value ->> 'kind' AND digest IS unhex(s.value ->> 'digest') AND priority = p.value AND losses < 2 AND run_at <= :now
      AND s.value ->> 'digested' IS NULL
    ORDER BY run_at, id LIMIT +:scan)
  UNION ALL
  SELECT id FROM (
    SELECT id FROM hourbell_job
    WHERE state = 0 AND digest IS NOT NULL AND queue = :queue AND kind = s.value ->> 'kind' AND priority = p.value AND losses < 2 AND run_at <= :now
      AND s.value ->> 'digested'
    ORDER BY run_at, id LIMIT +:scan))
WHERE j.permits IS NULL AND {needs_permit(j)}
ORDER BY j.priority, j.run_at, j.id LIMIT +:limit
