-- shared statement takeVacancies, returns id limit_id done_to lanes
-- The oldest rows of permits that were given back and of limits that were changed.
SELECT id, coalesce(limit_id, 0) AS limit_id, done_to, lanes FROM hourbell_vacancy ORDER BY id LIMIT +:limit
