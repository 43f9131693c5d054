-- shared statement upsertProgress
-- Stores the progress of claims of jobs that still have the tokens of the claims, also of
-- finished jobs.
INSERT INTO hourbell_progress (job_id, token, at, done, total, note, stuck)
SELECT value ->> 'id', value ->> 'token', :now, value ->> 'done', value ->> 'total', value ->> 'note', value ->> 'stuck'
FROM jsonb_each(:claims)
WHERE EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.id = value ->> 'id' AND j.token = value ->> 'token')
   OR EXISTS (SELECT 1 FROM hourbell_history AS h WHERE h.id = value ->> 'id' AND h.token = value ->> 'token')
ON CONFLICT (job_id) DO UPDATE
SET token = excluded.token, at = excluded.at, done = excluded.done, total = excluded.total, note = excluded.note, stuck = excluded.stuck
