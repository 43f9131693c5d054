-- Reports whether a claim of suspects may find a job. It does not compare kinds.
SELECT EXISTS (SELECT 1 FROM hourbell_job AS j FORCE INDEX (hourbell_job_suspect)
  WHERE j.losses >= 2 AND j.queue = :queue AND j.state = 0 AND j.run_at <= {at(:now)}) AS found
