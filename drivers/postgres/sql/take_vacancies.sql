-- statement takeVacancies, takes limit, returns limit_id done_to lanes
-- Deletes the oldest rows of permits that were given back and of limits that were changed, and returns them. Rows that other
-- transactions have locked are left.
DELETE FROM {schema}.vacancy
WHERE id = ANY (ARRAY(SELECT id FROM {schema}.vacancy ORDER BY id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
RETURNING coalesce(limit_id, 0) AS limit_id, done_to, lanes
