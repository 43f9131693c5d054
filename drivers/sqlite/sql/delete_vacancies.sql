-- shared statement deleteVacancies
-- Deletes rows of permits that were given back and of limits that were changed.
DELETE FROM hourbell_vacancy WHERE id IN (SELECT value FROM json_each(:ids))
