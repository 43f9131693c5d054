-- statement ListKinds, returns kind ready scheduled running waiting oldest
-- The live jobs of each kind, counted. Each state has an index, and the index of ready jobs has their kinds in order.
SELECT kind, sum(ready) AS ready, sum(scheduled) AS scheduled, sum(running) AS running, sum(waiting) AS waiting,
       min(oldest) AS oldest
FROM (
  SELECT kind, sum(run_at <= :now) AS ready, sum(run_at > :now) AS scheduled, 0 AS running, 0 AS waiting,
         min(CASE WHEN run_at <= :now THEN run_at END) AS oldest FROM hourbell_job WHERE state = 0 GROUP BY queue, kind
  UNION ALL
  SELECT kind, sum(run_at <= :now), sum(run_at > :now), 0, 0, min(CASE WHEN run_at <= :now THEN run_at END)
  FROM hourbell_job WHERE state = -1 GROUP BY kind
  UNION ALL
  SELECT kind, sum(run_at <= :now), sum(run_at > :now), 0, 0, min(CASE WHEN run_at <= :now THEN run_at END)
  FROM hourbell_job WHERE lane IS NOT NULL GROUP BY kind
  UNION ALL
  SELECT kind, 0, 0, count(*), 0, NULL FROM hourbell_job WHERE state = 2 GROUP BY kind
  UNION ALL
  SELECT kind, 0, 0, 0, count(*), NULL FROM hourbell_job WHERE state = 1 GROUP BY kind)
GROUP BY kind
ORDER BY kind
