-- shared statement insertChainEnds
-- Records ends of jobs, for which dependents have to account.
INSERT INTO hourbell_chain_end (schedule_id, slot, job_id, ended_at, state, paused, open, predecessor, reason)
VALUES
(:schedule, {at(:slot)}, :job, {at(:ended_at)}, :state, :paused, 1, :after, :reason)
