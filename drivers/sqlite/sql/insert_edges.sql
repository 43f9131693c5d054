-- Inserts what new jobs wait for.
INSERT INTO hourbell_edge (on_id, job_id, delay, "on", state, any_of)
SELECT value ->> 'on_id', value ->> 'id', value ->> 'delay', value ->> 'on', value ->> 'state', value ->> 'any' FROM jsonb_each(:edges)
