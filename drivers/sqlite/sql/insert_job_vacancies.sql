-- Records that jobs give back the permits that they hold. The first condition is constant, so that jobs are not looked up if
-- none has a permit. Jobs that get another attempt, after a retry or a loss, keep permits with :strict if one of their limits is strict
-- and none has a rate, nor more permits in use than it has, because it has begun or has become less since its jobs began.
INSERT INTO hourbell_vacancy (lanes)
SELECT json_group_array(p.value)
FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value CROSS JOIN json_each(j.permits) AS p
WHERE EXISTS (SELECT 1 FROM hourbell_job WHERE permits IS NOT NULL) AND j.permits IS NOT NULL
  AND NOT (:strict AND coalesce((SELECT max(t.strict) AND NOT max(t.rate > 0 OR t.concurrency > 0 AND l.used > t.concurrency * coalesce((SELECT w.value FROM json_each(nullif(t.weights, '')) AS w WHERE w.key = l.key), 1)) FROM json_each(j.permits) AS s CROSS JOIN hourbell_lane AS l ON l.id = s.value
    CROSS JOIN hourbell_job_limit AS t ON t.id = l.limit_id), 0))
HAVING count(*) > 0
