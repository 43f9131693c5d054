-- Gives a live job another spec.
UPDATE hourbell_job
SET state = GREATEST(state, 0), lane = NULL, permits = NULL, args = :args, headers = :headers, {spec = :spec}
WHERE id = :id
