-- statement lockClaims, takes ids tokens, returns id running schedule_id backfill handled
-- Locks the jobs that still have the tokens of these claims, in the order of their
-- numbers, and returns which are running, and whether there are handlers.
SELECT j.id, j.running, j.schedule_id, j.origin {backfill} AS backfill, EXISTS (SELECT FROM {schema}.handler) AS handled
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS o (id, token) JOIN {schema}.job AS j ON j.id = ANY (ARRAY[o.id])
WHERE j.token = o.token
ORDER BY j.id + 0
FOR UPDATE OF j
