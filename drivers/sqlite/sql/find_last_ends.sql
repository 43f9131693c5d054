-- statement FindLastEnds, returns schedule_id last
-- The last slot of each of these schedules that is the end of a job.
SELECT o.value AS schedule_id, (SELECT max(e.slot) FROM hourbell_chain_end AS e WHERE e.schedule_id = o.value) AS last FROM json_each(:ids) AS o
