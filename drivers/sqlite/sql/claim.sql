-- One priority after the other, each in its own order from the index and none
-- further than needed, so that neither a backlog nor what is due later is
-- sorted or walked. The inner list of each priority goes through json because a
-- subquery in FROM cannot look at the priority, but an argument of json_each can.
-- The plus before :limit, here and elsewhere: SQLite plans a statement anew for
-- each value of a bare parameter in LIMIT. Only a claim with Exact looks into the
-- table, for the args of jobs of those kinds; these lie in :bytes.
UPDATE hourbell_job AS j
SET state = 2, node = :node, attempt = min(j.attempt + 1, 32767), started_at = :now,
    token = max((SELECT value FROM hourbell_counter WHERE name = 'token'), j.token) + due.place
FROM (
  SELECT id, row_number() OVER () AS place FROM (
    SELECT pick.value AS id
    FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p, json_each((
      SELECT json_group_array(id) FROM (
        SELECT id FROM hourbell_job
        WHERE state = 0 AND queue = :queue AND priority = p.value AND run_at <= :now
          AND (kind IN (SELECT value FROM json_each(:kinds))
            OR kind IN (SELECT value ->> 'kind' FROM jsonb_each(:exact))                                      -- if exact
              AND (kind, args) IN (SELECT value ->> 'kind', substr(:bytes, value ->> 'at', value ->> 'len')   -- if exact
                                   FROM jsonb_each(:exact))                                                   -- if exact
          )
        ORDER BY run_at, id LIMIT +:limit))) AS pick
    LIMIT +:limit)) AS due
WHERE j.id = due.id AND j.state = 0
  AND EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL)
RETURNING id, token, kind, queue, args, headers, priority, attempt, max_attempts, on_loss, origin, timeout, run_at, created_at,
          coalesce(schedule_id, 0), coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = schedule_id), ''), slot
