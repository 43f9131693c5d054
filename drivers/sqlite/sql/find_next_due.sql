-- statement FindNextDue, returns next_due
-- The first ready job after now, of any kind, except suspects: a few index searches for
-- each kind that has ready jobs in the queue, with digests or without, unless the queue is
-- paused. A pause that ends before counts, too.
WITH RECURSIVE kinds (kind) AS (
  SELECT (SELECT kind FROM hourbell_job WHERE state = 0 AND queue = :queue ORDER BY kind LIMIT 1)
  WHERE NOT EXISTS (SELECT 1 FROM hourbell_pause WHERE subject = 1 AND {in_queue(:queue, name)} AND (until IS NULL OR until > :now))
  UNION ALL
  SELECT (SELECT j.kind FROM hourbell_job AS j WHERE j.state = 0 AND j.queue = :queue AND j.kind > k.kind ORDER BY j.kind LIMIT 1)
  FROM kinds AS k WHERE k.kind IS NOT NULL)
SELECT min(run_at) AS next_due FROM (
  SELECT (SELECT run_at FROM hourbell_job
          WHERE state = 0 AND queue = :queue AND kind = k.kind AND digest IS NULL AND priority = p.value AND losses < 2 AND run_at > :now
          ORDER BY run_at LIMIT 1) AS run_at
  FROM kinds AS k, json_each('[1,2,3,4,5,6,7,8,9]') AS p
  WHERE k.kind IS NOT NULL
  UNION ALL
  SELECT (SELECT run_at FROM hourbell_job
          WHERE state = 0 AND digest IS NOT NULL AND queue = :queue AND kind = k.kind AND priority = p.value AND losses < 2 AND run_at > :now
          ORDER BY run_at LIMIT 1)
  FROM kinds AS k, json_each('[1,2,3,4,5,6,7,8,9]') AS p
  WHERE k.kind IS NOT NULL
  UNION ALL
  SELECT until FROM hourbell_pause WHERE until > :now)
