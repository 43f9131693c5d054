-- statement findFirstSchedule, returns now next_at
-- The instant, and the earliest next_at.
SELECT :now AS now, (SELECT {micros(MIN(next_at))} FROM hourbell_schedule) AS next_at
