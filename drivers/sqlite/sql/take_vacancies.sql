-- statement takeVacancies, returns limit_id done_to lanes
-- Deletes the oldest rows of permits that were given back and of limits that were changed, and returns them.
DELETE FROM hourbell_vacancy WHERE id IN (SELECT id FROM hourbell_vacancy ORDER BY id LIMIT +:limit)
RETURNING coalesce(limit_id, 0) AS limit_id, done_to, lanes
