-- statement UpdateNext
-- Sets when schedules are due.
UPDATE hourbell_schedule AS s SET next_at = o.next_at
FROM (SELECT value ->> 'id' AS id, value ->> 'next_at' AS next_at FROM jsonb_each(:schedules)) AS o
WHERE s.id = o.id
