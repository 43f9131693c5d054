-- A job waits for a step: its number, and its snoozes.
(coalesce($2, 0) > 0 AND EXISTS (SELECT 1 FROM hourbell_step AS w WHERE w.job_id = $1 AND w.waits))
