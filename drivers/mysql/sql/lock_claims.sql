-- statement lockClaims, returns sqlrows.HeldClaimColumns rare
-- Locks the live jobs that still have the tokens of these claims, and returns the cancel requests for
-- them, whether there are handlers, whether the ends of the jobs concern dependents or limits, and which jobs are in hourbell_job_rare.
SELECT o.place, j.state, (SELECT c.reason FROM hourbell_cancel_request AS c WHERE c.job_id = j.id {share}) AS reason,
  COALESCE(j.schedule_id, 0) AS schedule_id, j.origin, EXISTS (SELECT 1 FROM hourbell_handler {share}) AS handled,
  j.releases <> 0 OR j.permits IS NOT NULL AS concerns, j.rare
FROM (SELECT * FROM JSON_TABLE(:claims, '$[*]' COLUMNS (place BIGINT PATH '$.place', id BIGINT PATH '$.id', token BIGINT PATH '$.token')) AS x) AS o

STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.token = o.token
FOR UPDATE
