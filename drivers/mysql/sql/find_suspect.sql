-- statement FindSuspect, returns found
-- Reports whether a claim of suspects may find a job. It does not compare kinds.
SELECT EXISTS (SELECT 1 FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_losses)
  STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = r.job_id
  WHERE r.losses >= 2 AND j.losses >= 2 AND j.queue = :queue AND j.state = 0 AND j.run_at <= {at(:now)}) AS found
