-- statement ListQueues, returns queue ready scheduled running waiting oldest
-- The live jobs of each queue, counted: first of each state, in the order of the index that has them.
SELECT g.queue, sum(CASE WHEN g.state <= 0 THEN g.due ELSE 0 END) AS ready, sum(CASE WHEN g.state <= 0 THEN g.jobs - g.due ELSE 0 END) AS scheduled,
  sum(CASE WHEN g.state = 2 THEN g.jobs ELSE 0 END) AS running, sum(CASE WHEN g.state = 1 THEN g.jobs ELSE 0 END) AS waiting,
  {micros(min(CASE WHEN g.state <= 0 AND g.first_at <= {at(:now)} THEN g.first_at END))} AS oldest
FROM (SELECT j.state, j.queue, count(*) AS jobs, sum(j.run_at <= {at(:now)}) AS due, min(j.run_at) AS first_at
  FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready) GROUP BY j.state, j.queue) AS g
GROUP BY g.queue ORDER BY g.queue
