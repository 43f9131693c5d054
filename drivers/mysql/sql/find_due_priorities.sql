-- statement findDuePriorities, returns priority first_at
-- Each priority that has a due job which the claim may take, and since when the first such job is due: a search of the index for
-- each, which passes the due jobs that the claim may not take. With EXISTS, MariaDB reads all due jobs.
SELECT d.priority, {micros(d.run_at)} AS first_at
FROM ({each_priority(SELECT PRIORITY AS priority, j.run_at FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready)
  WHERE j.priority = PRIORITY AND j.losses < 2 AND {claimable(j)} ORDER BY j.run_at, j.id LIMIT 1)}) AS d
ORDER BY d.priority
