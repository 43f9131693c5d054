-- statement insertJobs
-- statement insertLinkedJobs, given linked
-- The bytes of args and headers are in one blob, and each job has the offset (from 1) and
-- the length of its own, so that nothing on the way can change them. Jobs that wait for jobs, and
-- jobs for which jobs of the same insert wait, are linked.
INSERT INTO hourbell_job (
  waits, releases,                                              -- if linked
  run_at, created_at, slot, schedule_id, origin, state, args, headers, {spec})
SELECT
       value ->> 'waits', coalesce(value ->> 'releases', 0),    -- if linked
       coalesce(value ->> 'run_at', now + (value ->> 'delay')), now, value ->> 'slot', value ->> 'schedule', value ->> 'origin', value ->> 'state',
       substr(:bytes, value ->> 'args_at', value ->> 'args_len'), substr(:bytes, value ->> 'headers_at', value ->> 'headers_len'),
       {value ->> 'spec'}
FROM (SELECT coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000) AS now)
CROSS JOIN jsonb_each(:jobs)
