-- statement FindDueEnds, returns schedule_id slot predecessor job_id state ended_at reason paused
-- The ends for which these schedules have to account.
SELECT e.schedule_id, e.slot, e.predecessor, e.job_id, e.state, e.ended_at, e.reason, e.paused
FROM json_each(:ids) AS o
CROSS JOIN hourbell_chain_end AS e INDEXED BY hourbell_chain_end_open ON e.schedule_id = o.value
WHERE e.open = 1
ORDER BY e.schedule_id, e.slot
LIMIT +:limit
