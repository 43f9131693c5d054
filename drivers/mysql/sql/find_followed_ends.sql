-- statement FindFollowedEnds, returns place
-- Ends of jobs for which the dependent has made a job.
SELECT o.place - 1 AS place
FROM JSON_TABLE(:ends, '$[*]' COLUMNS (place FOR ORDINALITY, schedule BIGINT PATH '$.schedule', job BIGINT PATH '$.job')) AS o
WHERE EXISTS (
  SELECT 1 FROM hourbell_chain_end AS e FORCE INDEX (hourbell_chain_end_job)
  STRAIGHT_JOIN hourbell_slot AS r FORCE INDEX (hourbell_slot_fired) ON r.schedule_id = e.schedule_id AND r.fired_slot = e.slot
  WHERE e.schedule_id = o.schedule AND e.job_id = o.job {share})
