-- statement claimSuspects, returns sqlrows.ClaimedColumns
-- statement limitedSuspects, given limited, returns sqlrows.ClaimedColumns
-- Suspects, which are few and have an index of their own: one priority after the
-- other, as in claim.sql, of the kinds :kinds, and with the args of :exact, which lie
-- in :bytes.
UPDATE hourbell_job AS j
SET state = 2, node = :node, attempt = min(j.attempt + 1, 32767), started_at = :now,
    token = max((SELECT value FROM hourbell_counter WHERE name = 'token'), j.token) + due.place, begun = due.place <= :begin
FROM (
  SELECT id, row_number() OVER () AS place FROM (
    SELECT pick.value AS id
    FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p, json_each((
      SELECT json_group_array(id) FROM (
        SELECT id FROM hourbell_job INDEXED BY hourbell_job_suspect
        WHERE state = 0 AND queue = :queue AND priority = p.value AND run_at <= :now
          AND losses >= 2
          AND {permitted} -- if limited
          AND (kind IN (SELECT value FROM json_each(:kinds))
            OR kind IN (SELECT value ->> 'kind' FROM jsonb_each(:exact))
              AND (kind, args) IN (SELECT value ->> 'kind', substr(:bytes, value ->> 'at', value ->> 'len')
                                   FROM jsonb_each(:exact))
          )
        ORDER BY run_at, id LIMIT +:limit))) AS pick
    LIMIT +:limit)) AS due
WHERE j.id = due.id AND j.state = 0
  AND EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL)
RETURNING id, token, args, headers, attempt, origin, run_at, created_at,
          coalesce(schedule_id, 0) AS schedule_id, coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = schedule_id), '') AS schedule_name, slot, losses, refunds, {spec}
