-- The columns that count live jobs by what they do at an instant; NULL: now.
count(*) FILTER (WHERE {due($1)}) AS ready, count(*) FILTER (WHERE state <= 0 AND NOT running AND run_at > coalesce($1, now())) AS scheduled,
    count(*) FILTER (WHERE running) AS running, count(*) FILTER (WHERE state = 1) AS waiting
