-- shared statement findPauseWork, returns found
-- Reports whether a pause has ended, or a due job of a paused group or key is not parked.
SELECT (SELECT subject FROM hourbell_pause WHERE until <= {at(:now)} LIMIT 1) IS NOT NULL
  OR (SELECT j.job_id FROM hourbell_pause AS p STRAIGHT_JOIN hourbell_job_rare AS j ON j.group_name = p.name AND j.state IN (0, -2, -3) AND j.run_at <= {at(:now)}
      WHERE p.subject = 0 LIMIT 1) IS NOT NULL
  OR (SELECT j.job_id FROM hourbell_pause AS p STRAIGHT_JOIN hourbell_job_rare AS j ON j.job_key = p.name AND j.state = 0 AND j.run_at <= {at(:now)}
      WHERE p.subject = 3 LIMIT 1) IS NOT NULL AS found
