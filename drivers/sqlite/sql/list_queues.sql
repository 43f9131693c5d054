-- statement ListQueues, returns queue ready scheduled running waiting oldest
-- The live jobs of each queue, counted. Each state has an index, so that the table is not
-- read.
SELECT queue, sum(ready) AS ready, sum(scheduled) AS scheduled, sum(running) AS running, sum(waiting) AS waiting,
       min(oldest) AS oldest
FROM (
  SELECT queue, run_at <= :now AS ready, run_at > :now AS scheduled, 0 AS running, 0 AS waiting,
         CASE WHEN run_at <= :now THEN run_at END AS oldest FROM hourbell_job WHERE state = 0
  UNION ALL
  SELECT queue, run_at <= :now, run_at > :now, 0, 0, CASE WHEN run_at <= :now THEN run_at END FROM hourbell_job WHERE state = -1
  UNION ALL
  SELECT queue, run_at <= :now, run_at > :now, 0, 0, CASE WHEN run_at <= :now THEN run_at END FROM hourbell_job WHERE lane IS NOT NULL
  UNION ALL
  SELECT queue, 0, 0, 1, 0, NULL FROM hourbell_job WHERE state = 2
  UNION ALL
  SELECT queue, 0, 0, 0, 1, NULL FROM hourbell_job WHERE state = 1)
GROUP BY queue
ORDER BY queue
