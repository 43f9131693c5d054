-- statement UpsertOutput
-- Stores blocks of the output of running jobs. One blob has all bytes.
INSERT INTO hourbell_output (job_id, token, block, data)
SELECT value ->> 'id', value ->> 'token', value ->> 'block', substr(:bytes, value ->> 'at', value ->> 'len')
FROM jsonb_each(:rows)
WHERE true
ON CONFLICT (job_id, token, block) DO UPDATE SET data = excluded.data
