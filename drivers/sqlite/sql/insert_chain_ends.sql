-- shared statement insertChainEnds
-- Records ends of jobs, for which dependents have to account.
INSERT INTO hourbell_chain_end (schedule_id, slot, job_id, ended_at, state, paused, open, predecessor, reason)
SELECT value ->> 'schedule', value ->> 'slot', value ->> 'job', value ->> 'ended_at', value ->> 'state', value ->> 'paused', 1, value ->> 'after', value ->> 'reason'
FROM jsonb_each(:rows)
