-- statement findFollowedEnds, takes schedules jobs, returns schedule_id job_id
-- Ends of jobs for which the dependent has made a job.
SELECT o.schedule_id, o.job_id
FROM unnest(:schedules::bigint[], :jobs::bigint[]) AS o (schedule_id, job_id)
WHERE EXISTS (
    SELECT FROM {schema}.chain_end AS e JOIN {schema}.slot AS r ON r.schedule_id = e.schedule_id AND r.slot = e.slot AND r.outcome = 0
    WHERE e.schedule_id = o.schedule_id AND e.job_id = o.job_id OFFSET 0)
