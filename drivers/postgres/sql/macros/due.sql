-- A live job does not run, and is due at an instant; NULL: now.
(state <= 0 AND NOT running AND run_at <= coalesce($1, now()))
