-- statement insertChainEnds, takes schedules slots jobs ended_ats states paused predecessors reasons
-- Records ends of jobs, for which dependents have to account.
INSERT INTO {schema}.chain_end (schedule_id, slot, job_id, ended_at, state, paused, open, predecessor, reason)
SELECT e.schedule_id, e.slot, e.job_id, e.ended_at, e.state, e.paused, true, e.predecessor, e.reason
FROM unnest(:schedules::bigint[], :slots::timestamptz[], :jobs::bigint[], :ended_ats::timestamptz[], :states::smallint[], :paused::boolean[],
    :predecessors::text[], :reasons::text[])
    AS e (schedule_id, slot, job_id, ended_at, state, paused, predecessor, reason)
