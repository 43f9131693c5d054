-- statement ListKinds, returns kind ready scheduled running waiting oldest
-- The live jobs of each kind, counted.
SELECT kind, sum(state <= 0 AND run_at <= {at(:now)}) AS ready, sum(state <= 0 AND run_at > {at(:now)}) AS scheduled,
       sum(state = 2) AS running, sum(state = 1) AS waiting, {micros(min(CASE WHEN state <= 0 AND run_at <= {at(:now)} THEN run_at END))} AS oldest
FROM hourbell_job GROUP BY kind ORDER BY kind
