-- shared statement deleteHandlers
-- Deletes handlers.
DELETE FROM hourbell_handler WHERE name IN (SELECT value FROM json_each(:names))
