-- Gives live jobs other specs. The bytes of args and headers are in one blob, as for
-- insert_jobs. A job gets the digest of its new args when a claim needs it.
UPDATE hourbell_job AS j
SET state = max(j.state, 0), lane = NULL, permits = NULL, digest = NULL, args = substr(:bytes, o.value ->> 'args_at', o.value ->> 'args_len'),
    headers = substr(:bytes, o.value ->> 'headers_at', o.value ->> 'headers_len'), {spec = o.value ->> 'spec'}
FROM jsonb_each(:jobs) AS o
WHERE j.id = o.value ->> 'id'
