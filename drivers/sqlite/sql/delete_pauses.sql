-- statement DeletePauses
-- Deletes pauses that have ended and have no parked jobs, unless another pause parks these. Only jobs
-- of groups and keys are parked.
DELETE FROM hourbell_pause
WHERE until <= :now
  AND (subject <> 0 OR NOT EXISTS (
    SELECT 1 FROM hourbell_job AS j WHERE j.group_name = hourbell_pause.name AND j.state = -1
      AND NOT EXISTS (SELECT 1 FROM hourbell_pause AS o WHERE o.subject = 3 AND o.name = j.job_key AND (o.until IS NULL OR o.until > :now))))
  AND (subject <> 3 OR NOT EXISTS (
    SELECT 1 FROM hourbell_job AS j WHERE j.job_key = hourbell_pause.name AND j.state = -1
      AND NOT EXISTS (SELECT 1 FROM hourbell_pause AS o WHERE o.subject = 0 AND o.name = j.group_name AND (o.until IS NULL OR o.until > :now))))
