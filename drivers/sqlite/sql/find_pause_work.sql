-- shared statement findPauseWork, returns found
-- Reports whether a pause has ended, or a due job of a paused group or key is not parked.
SELECT EXISTS (SELECT 1 FROM hourbell_pause WHERE until <= :now)
  OR EXISTS (SELECT 1 FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j
    ON j.group_name = p.name AND j.state IN (0, -2, -3) AND j.run_at <= :now WHERE p.subject = 0)
  OR EXISTS (SELECT 1 FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j
    ON j.job_key = p.name AND j.state = 0 AND j.run_at <= :now WHERE p.subject = 3) AS found
