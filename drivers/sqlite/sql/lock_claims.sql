-- statement lockClaims, returns sqlrows.HeldClaimColumns
-- The live jobs that still have the tokens of these claims, the cancel requests for
-- them, whether there are handlers, and whether the ends of the jobs concern dependents or limits.
SELECT o.value ->> 'place' AS place, j.state, c.reason, coalesce(j.schedule_id, 0) AS schedule_id, j.origin,
       EXISTS (SELECT 1 FROM hourbell_handler) AS handled, j.releases = 1 OR j.permits IS NOT NULL AS concerns
FROM jsonb_each(:claims) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id' AND j.token = o.value ->> 'token'
LEFT JOIN hourbell_cancel_request AS c ON c.job_id = j.id
