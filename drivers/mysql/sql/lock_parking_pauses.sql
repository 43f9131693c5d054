-- statement lockParkingPauses, given shared, returns subject name
-- statement lockParkingPausesAlone, given alone, returns subject name
-- Locks the pauses of groups and keys that have due jobs which are not parked. They are found without locks, so that claims that park
-- nothing do not wait for a change of a pause, and claims that park jobs do not wait for each other. In a cluster they do, because
-- each of them changes the rows.
SELECT p.subject, p.name
FROM (SELECT q.subject, q.name FROM hourbell_pause AS q
  WHERE q.subject IN (0, 3) AND (q.until IS NULL OR q.until > {at(:now)})
    AND CASE q.subject
      WHEN 0 THEN (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.group_name = q.name AND j.state IN (0, -2, -3) AND j.run_at <= {at(:now)} LIMIT 1)
      ELSE (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.job_key = q.name AND j.state = 0 AND j.run_at <= {at(:now)} LIMIT 1) END IS NOT NULL
  ORDER BY q.subject, q.name LIMIT :limit) AS o
STRAIGHT_JOIN hourbell_pause AS p FORCE INDEX (PRIMARY) ON p.subject = o.subject AND p.name = o.name
WHERE p.until IS NULL OR p.until > {at(:now)}
LOCK IN SHARE MODE -- if shared
FOR UPDATE         -- if alone
