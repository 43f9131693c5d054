-- statement findDueEnds, takes schedules limit, returns schedule_id slot predecessor job_id state ended_at reason paused
-- The ends for which these schedules have to account.
SELECT e.schedule_id, e.slot, e.predecessor, e.job_id, e.state, e.ended_at, e.reason, e.paused
FROM {schema}.chain_end AS e
WHERE e.schedule_id = ANY (:schedules::bigint[]) AND e.open
ORDER BY e.schedule_id, e.slot LIMIT :limit::bigint
