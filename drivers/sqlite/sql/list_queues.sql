-- statement ListQueues, returns queue ready scheduled running waiting oldest
-- The live jobs of each queue, counted. Each state has an index, so that the table is not read, and its jobs are counted in the
-- order of the index, so that they are not sorted.
SELECT queue, sum(ready) AS ready, sum(scheduled) AS scheduled, sum(running) AS running, sum(waiting) AS waiting,
       min(oldest) AS oldest
FROM (
  SELECT queue, sum(run_at <= :now) AS ready, sum(run_at > :now) AS scheduled, 0 AS running, 0 AS waiting,
         min(CASE WHEN run_at <= :now THEN run_at END) AS oldest FROM hourbell_job WHERE state = 0 GROUP BY queue
  UNION ALL
  SELECT queue, sum(run_at <= :now), sum(run_at > :now), 0, 0, min(CASE WHEN run_at <= :now THEN run_at END)
  FROM hourbell_job WHERE state = -1 GROUP BY queue
  UNION ALL
  SELECT queue, sum(run_at <= :now), sum(run_at > :now), 0, 0, min(CASE WHEN run_at <= :now THEN run_at END)
  FROM hourbell_job WHERE lane IS NOT NULL GROUP BY queue
  UNION ALL
  SELECT queue, 0, 0, count(*), 0, NULL FROM hourbell_job WHERE state = 2 GROUP BY queue
  UNION ALL
  SELECT queue, 0, 0, 0, count(*), NULL FROM hourbell_job WHERE state = 1 GROUP BY queue)
GROUP BY queue
ORDER BY queue
