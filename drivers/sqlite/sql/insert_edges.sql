-- shared statement insertEdges
-- Inserts what new jobs wait for.
INSERT INTO hourbell_edge (on_id, job_id, delay, "on", state, any_of, at_end)
SELECT value ->> 'on_id', value ->> 'id', value ->> 'delay', value ->> 'on', value ->> 'state', value ->> 'any', value ->> 'at_end' FROM jsonb_each(:rows)
