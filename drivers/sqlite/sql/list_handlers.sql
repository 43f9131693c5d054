-- shared statement listHandlers, returns name events kind group_name job updated_at
-- All handlers.
SELECT name, events, kind, group_name, job, updated_at FROM hourbell_handler ORDER BY name
