-- statement DeleteHandlers
-- Deletes handlers.
DELETE FROM hourbell_handler WHERE name IN (:names)
