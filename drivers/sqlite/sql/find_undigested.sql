-- statement findUndigested, returns id args
-- Due jobs of some kinds whose args have no digest, in the order of claims.
SELECT j.id, j.args
FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN json_each(:kinds) AS k CROSS JOIN hourbell_job AS j
WHERE j.state = 0 AND j.queue = :queue AND j.kind = k.value AND j.digest IS NULL AND j.priority = p.value AND j.run_at <= :now
LIMIT +:limit
