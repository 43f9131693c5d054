-- statement findDuePriorities, returns priority
-- Each priority that has a due job which the claim may take: a search of the index for each, which
-- passes the due jobs that the claim may not take. With EXISTS, MariaDB reads all due jobs.
SELECT p.priority
FROM (SELECT 1 AS priority UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
  UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS p
WHERE (
  SELECT j.id FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready)
  WHERE j.priority = p.priority AND j.losses < 2 AND {claimable(j)} LIMIT 1) IS NOT NULL
ORDER BY p.priority
