-- statement FindNextDue, returns next_due
-- The first ready job after now, of any kind, except suspects: a search of the index for each
-- priority, unless the queue is paused. A pause that ends before counts, too.
SELECT {micros(MIN(d.run_at))} AS next_due
FROM (
  SELECT p.run_at
  FROM ({each_priority(SELECT j.run_at FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready)
    WHERE j.queue = :queue AND j.state = 0 AND j.priority = PRIORITY AND j.run_at > {at(:now)} AND j.losses < 2
    ORDER BY j.run_at, j.id LIMIT 1)}) AS p
  WHERE NOT EXISTS (SELECT 1 FROM hourbell_pause AS q
    WHERE q.subject = 1 AND (q.name = :queue OR LEFT(:queue, CHAR_LENGTH(q.name) + 1) = CONCAT(q.name, _utf8mb4'@')) AND (q.until IS NULL OR q.until > {at(:now)}))
  UNION ALL
  SELECT until FROM hourbell_pause WHERE until > {at(:now)}) AS d
