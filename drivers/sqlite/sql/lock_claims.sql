-- statement lockClaims, returns place state reason schedule_id origin handled
-- The live jobs that still have the tokens of these claims, the cancel requests for
-- them, and whether there are handlers.
SELECT o.key AS place, j.state, c.reason, coalesce(j.schedule_id, 0) AS schedule_id, j.origin,
       EXISTS (SELECT 1 FROM hourbell_handler) AS handled
FROM jsonb_each(:claims) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id' AND j.token = o.value ->> 'token'
LEFT JOIN hourbell_cancel_request AS c ON c.job_id = j.id
