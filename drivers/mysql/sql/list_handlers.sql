-- shared statement listHandlers, returns name events kind group_name job updated_at
-- All handlers.
SELECT name, events, kind, group_name, job, {micros(h.updated_at)} AS updated_at FROM hourbell_handler AS h ORDER BY name
{share}
