-- statement FindSuspect, returns found
-- Reports whether a claim of suspects may find a job. It does not compare kinds.
SELECT EXISTS (SELECT 1 FROM hourbell_job WHERE state = 0 AND losses >= 2 AND queue = :queue AND run_at <= :now) AS found
