-- statement FindLastEnds, returns schedule_id last
-- The last slot of each of these schedules, which are locked, that is the end of a job.
SELECT e.schedule_id, {micros(max(e.slot))} AS last FROM hourbell_chain_end AS e WHERE e.schedule_id IN (:ids) GROUP BY e.schedule_id {share}
