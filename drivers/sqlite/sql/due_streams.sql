-- Those of a claim's kinds of which a job is due, as they were given: a few looks
-- into the index for each kind, however many jobs of other kinds are due.
SELECT s.value
FROM json_each(:streams) AS s
WHERE EXISTS (
  SELECT 1 FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN hourbell_job AS d
  WHERE d.state = 0 AND d.queue = :queue AND d.kind = s.value ->> 'kind' AND d.priority = p.value AND d.losses < 2 AND d.run_at <= :now
    AND (NOT s.value ->> 'exact' OR (d.kind, d.args) IN (SELECT value ->> 'kind', substr(:bytes, value ->> 'at', value ->> 'len') FROM jsonb_each(:exact)))   -- if exact
)
