-- statement lockNewLaneSuspects, returns sqlrows.LaneJobColumns
-- As lock_new_lane_jobs, of suspects, which are few. :exact has the args that lie in :bytes.
SELECT j.id, 0 AS lane, j.token > 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM hourbell_job AS j INDEXED BY hourbell_job_suspect
WHERE j.state = 0 AND j.queue = :queue AND j.run_at <= :now AND j.permits IS NULL AND j.losses >= 2
  AND (j.kind IN (SELECT value FROM json_each(:kinds))
    OR j.kind IN (SELECT value ->> 'kind' FROM jsonb_each(:exact))
      AND (j.kind, j.args) IN (SELECT value ->> 'kind', substr(:bytes, value ->> 'at', value ->> 'len') FROM jsonb_each(:exact)))
  AND {needs_permit(j)}
ORDER BY j.priority, j.run_at, j.id LIMIT +:limit
