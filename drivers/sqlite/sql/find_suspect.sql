-- Whether a claim of suspects may find one; it looks at kinds.
SELECT EXISTS (SELECT 1 FROM hourbell_job WHERE state = 0 AND losses >= 2 AND queue = :queue AND run_at <= :now) AS found
