-- statement UpdateJobs
-- Gives live jobs another queue or priority, and sets when they are due.
UPDATE hourbell_job AS j
SET state = max(j.state, 0), lane = NULL, permits = NULL, run_at = o.value ->> 'run_at', queue = coalesce(nullif(o.value ->> 'queue', ''), j.queue),
    priority = coalesce(nullif(o.value ->> 'priority', 0), j.priority)
FROM jsonb_each(:jobs) AS o
WHERE j.id = o.value ->> 'id'
