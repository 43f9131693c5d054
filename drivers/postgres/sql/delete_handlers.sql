-- statement deleteHandlers, takes names
-- Deletes handlers.
DELETE FROM {schema}.handler WHERE name = ANY (:names::text[])
