-- statement listHandlers, returns handlerColumns
-- All handlers.
SELECT name, events, kind, group_name, job, updated_at FROM {schema}.handler ORDER BY name
