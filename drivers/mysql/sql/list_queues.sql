-- statement ListQueues, returns queue ready scheduled running waiting oldest
-- The live jobs of each queue, counted.
SELECT queue, sum(state <= 0 AND run_at <= {at(:now)}) AS ready, sum(state <= 0 AND run_at > {at(:now)}) AS scheduled,
       sum(state = 2) AS running, sum(state = 1) AS waiting, {micros(min(CASE WHEN state <= 0 AND run_at <= {at(:now)} THEN run_at END))} AS oldest
FROM hourbell_job GROUP BY queue ORDER BY queue
