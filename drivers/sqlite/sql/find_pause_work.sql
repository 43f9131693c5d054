-- Reports whether a pause has ended, or a due job of a paused group is not parked.
SELECT EXISTS (SELECT 1 FROM hourbell_pause WHERE until <= :now)
  OR EXISTS (SELECT 1 FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j
    ON j.group_name = p.name AND j.state = 0 AND j.run_at <= :now WHERE p.subject = 0) AS found
