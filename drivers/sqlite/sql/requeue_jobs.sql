-- statement RequeueJobs
-- Makes live jobs claimable again. Their tokens stay, and so do the permits of a job that does not snooze, if one of its limits is
-- strict, none has a rate, and none has more permits in use than it has; see insert_job_vacancies.
UPDATE hourbell_job AS j
SET state = 0, lane = NULL,
    permits = CASE WHEN j.permits IS NULL OR o.snoozed THEN NULL
      WHEN (SELECT max(t.strict) AND NOT max(t.rate > 0 OR t.concurrency > 0 AND l.used > t.concurrency * coalesce((SELECT w.value FROM json_each(nullif(t.weights, '')) AS w WHERE w.key = l.key), 1)) FROM json_each(j.permits) AS s CROSS JOIN hourbell_lane AS l ON l.id = s.value
        CROSS JOIN hourbell_job_limit AS t ON t.id = l.limit_id) THEN j.permits END,
    run_at = :now + o.delay, attempt = j.attempt - o.refund, refunds = min(j.refunds + o.counted, 32767),
    losses = iif(o.well, 0, min(j.losses + o.lost, 32767)), snoozes = iif(o.snoozed, coalesce(j.snoozes, 0) + 1, j.snoozes)
FROM (SELECT value ->> 'id' AS id, value ->> 'delay' AS delay, value ->> 'refund' AS refund, value ->> 'counted' AS counted,
        value ->> 'well' AS well, value ->> 'lost' AS lost, value ->> 'snoozed' AS snoozed FROM jsonb_each(:jobs)) AS o
WHERE j.id = o.id
