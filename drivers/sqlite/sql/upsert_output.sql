-- shared statement upsertOutput
-- Stores blocks of the output of running jobs. One blob has all bytes.
INSERT INTO hourbell_output (job_id, token, block, data)
SELECT value ->> 'id', value ->> 'token', value ->> 'block', substr(:bytes, value ->> 'data_at', value ->> 'data_len')
FROM jsonb_each(:rows)
WHERE true
ON CONFLICT (job_id, token, block) DO UPDATE SET data = excluded.data
