-- statement FindNextSchedule, returns next_at
-- The earliest next_at after :soon.
SELECT {micros(min(s.next_at))} AS next_at FROM hourbell_schedule AS s WHERE s.next_at > {at(:soon)}
