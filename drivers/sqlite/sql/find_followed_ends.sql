-- statement FindFollowedEnds, returns place
-- Ends of jobs for which the dependent has made a job.
SELECT o.key AS place
FROM jsonb_each(:ends) AS o
WHERE EXISTS (
  SELECT 1 FROM hourbell_chain_end AS e
  CROSS JOIN hourbell_slot AS r ON r.schedule_id = e.schedule_id AND r.slot = e.slot AND r.outcome = 0
  WHERE e.schedule_id = o.value ->> 'schedule' AND e.job_id = o.value ->> 'job')
