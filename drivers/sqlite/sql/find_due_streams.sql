-- statement findDueStreams, returns stream
-- The streams of a claim in which a job is due, in the order of :streams: a few index
-- searches for each stream, however many jobs of other streams are due.
SELECT s.value AS stream
FROM json_each(:streams) AS s
WHERE CASE WHEN s.value ->> 'digested' THEN EXISTS (
  SELECT 1 FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN hourbell_job AS d
  WHERE d.state = 0 AND d.digest IS NOT NULL AND d.queue = :queue AND d.kind = s.value ->> 'kind' AND d.priority = p.value AND d.losses < 2 AND d.run_at <= :due_by
) ELSE EXISTS (
  SELECT 1 FROM hourbell_job
  WHERE state = 0 AND queue = :queue AND kind = s.value ->> 'kind' AND digest IS unhex(s.value ->> 'digest')
) AND EXISTS (
  SELECT 1 FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN hourbell_job AS d
  WHERE d.state = 0 AND d.queue = :queue AND d.kind = s.value ->> 'kind' AND d.digest IS unhex(s.value ->> 'digest') AND d.priority = p.value AND d.losses < 2 AND d.run_at <= :due_by
) END
