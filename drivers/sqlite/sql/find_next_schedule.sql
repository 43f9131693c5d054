-- statement FindNextSchedule, returns next_at
-- The earliest next_at after :soon.
SELECT min(next_at) AS next_at FROM hourbell_schedule WHERE next_at > :soon
