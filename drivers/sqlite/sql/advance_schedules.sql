-- statement AdvanceSchedules
-- Moves mark and next_at of schedules, and counts their fired slots.
UPDATE hourbell_schedule AS s
SET mark = o.mark, next_at = o.next_at, fired = s.fired + o.fired
FROM (SELECT value ->> 'id' AS id, value ->> 'mark' AS mark, value ->> 'next_at' AS next_at, value ->> 'fired' AS fired
      FROM jsonb_each(:schedules)) AS o
WHERE s.id = o.id
