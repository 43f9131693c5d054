-- statement FindDueEnds, returns schedule_id slot predecessor job_id state ended_at reason paused
-- The ends for which these schedules have to account.
SELECT e.schedule_id, {micros(e.slot)} AS slot, e.predecessor, e.job_id, e.state, {micros(e.ended_at)} AS ended_at, e.reason, e.paused
FROM hourbell_chain_end AS e FORCE INDEX (hourbell_chain_end_open)
WHERE e.schedule_id IN (:ids) AND e.open = 1
ORDER BY e.schedule_id, e.slot
LIMIT :limit
{share}
