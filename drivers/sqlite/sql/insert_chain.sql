-- shared statement insertChain
-- Records which schedules follow which.
INSERT INTO hourbell_chain (predecessor, schedule_id)
SELECT o.value ->> 'predecessor', s.id
FROM json_each(:edges) AS o
CROSS JOIN hourbell_schedule AS s ON s.name = o.value ->> 'schedule'
