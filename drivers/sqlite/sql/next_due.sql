-- The first ready job after now, of any kind: one look per priority.
SELECT min(run_at) FROM (
  SELECT (SELECT run_at FROM hourbell_job
          WHERE state = 0 AND queue = :queue AND priority = p.value AND run_at > :now
          ORDER BY run_at LIMIT 1) AS run_at
  FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p)
