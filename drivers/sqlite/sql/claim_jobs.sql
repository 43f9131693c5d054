-- statement agedDigestedStreams, given digested several by_age, returns sqlrows.ClaimedColumns
-- statement agedStreams, given several by_age, returns sqlrows.ClaimedColumns
-- statement claimDigestedStreams, given digested several by_priority, returns sqlrows.ClaimedColumns
-- statement claimJobs, given one, returns sqlrows.ClaimedColumns
-- statement claimStreams, given several by_priority, returns sqlrows.ClaimedColumns
-- statement limitedAgedDigested, given digested several by_age limited_digested limited_several, returns sqlrows.ClaimedColumns
-- statement limitedAgedStreams, given several by_age limited_several, returns sqlrows.ClaimedColumns
-- statement limitedDigestedStreams, given digested several by_priority limited_digested limited_several, returns sqlrows.ClaimedColumns
-- statement limitedJobs, given one limited_one, returns sqlrows.ClaimedColumns
-- statement limitedStreams, given several by_priority limited_several, returns sqlrows.ClaimedColumns
-- Jobs of one kind: one priority after the other, each in its own order from the
-- index and none further than needed, so that neither a backlog nor what is due
-- later is sorted or walked. The inner list of each priority goes through json
-- because a subquery in FROM cannot look at the priority, but an argument of
-- json_each can.
-- Jobs of several streams: the first due job of each stream and priority, and after
-- each job that is taken the one behind it in the index: with the same run_at, or
-- a later one. The recursion takes the first of the jobs that it holds, so it looks at
-- no more jobs than it takes and one for each stream and priority. A stream is the jobs
-- of a kind with one digest, or without; or, digested, with any. By age, the recursion takes the jobs that
-- have been due for longest, whatever their priority.
-- The plus before :limit, here and elsewhere: SQLite plans a statement again for
-- each value of a bare parameter in LIMIT. The first :begin jobs may begin.
WITH RECURSIVE merged (priority, run_at, id, kind, digest, digested) AS (                                                                                                -- if several
  SELECT f.priority, f.run_at, f.id, f.kind, f.digest, s.value ->> 'digested'                                                                                            -- if several
  FROM json_each(:streams) AS s CROSS JOIN json_each('[1,2,3,4,5,6,7,8,9]') AS p CROSS JOIN hourbell_job AS f                                                            -- if several
  WHERE f.id =                                                                                                                                                           -- if several
    CASE WHEN s.value ->> 'digested' THEN (                                                                                                                              -- if digested
      SELECT id FROM hourbell_job                                                                                                                                        -- if digested
      WHERE state = 0 AND digest IS NOT NULL AND queue = :queue AND kind = s.value ->> 'kind' AND priority = p.value AND losses < 2 AND run_at <= :due_by                   -- if digested
        AND {permitted}                                                                                                                                                  -- if limited_digested
      ORDER BY run_at, id LIMIT 1) ELSE                                                                                                                                  -- if digested
    (SELECT id FROM hourbell_job                                                                                                                                         -- if several
     WHERE state = 0 AND queue = :queue AND kind = s.value ->> 'kind' AND digest IS unhex(s.value ->> 'digest') AND priority = p.value AND losses < 2 AND run_at <= :due_by -- if several
       AND {permitted}                                                                                                                                                   -- if limited_several
     ORDER BY run_at, id LIMIT 1)                                                                                                                                        -- if several
    END                                                                                                                                                                  -- if digested
  UNION ALL                                                                                                                                                              -- if several
  SELECT f.priority, f.run_at, f.id, f.kind, f.digest, m.digested                                                                                                        -- if several
  FROM merged AS m CROSS JOIN hourbell_job AS f                                                                                                                          -- if several
  WHERE f.id =                                                                                                                                                           -- if several
    CASE WHEN m.digested THEN coalesce((                                                                                                                                 -- if digested
      SELECT id FROM hourbell_job                                                                                                                                        -- if digested
      WHERE state = 0 AND digest IS NOT NULL AND queue = :queue AND kind = m.kind AND priority = m.priority AND losses < 2 AND run_at = m.run_at AND id > m.id           -- if digested
        AND {permitted}                                                                                                                                                  -- if limited_digested
      ORDER BY id LIMIT 1), (                                                                                                                                            -- if digested
      SELECT id FROM hourbell_job                                                                                                                                        -- if digested
      WHERE state = 0 AND digest IS NOT NULL AND queue = :queue AND kind = m.kind AND priority = m.priority AND losses < 2 AND run_at > m.run_at AND run_at <= :due_by      -- if digested
        AND {permitted}                                                                                                                                                  -- if limited_digested
      ORDER BY run_at, id LIMIT 1)) ELSE                                                                                                                                 -- if digested
    coalesce((                                                                                                                                                           -- if several
      SELECT id FROM hourbell_job                                                                                                                                        -- if several
      WHERE state = 0 AND queue = :queue AND kind = m.kind AND digest IS m.digest AND priority = m.priority AND losses < 2 AND run_at = m.run_at AND id > m.id           -- if several
        AND {permitted}                                                                                                                                                  -- if limited_several
      ORDER BY id LIMIT 1), (                                                                                                                                            -- if several
      SELECT id FROM hourbell_job                                                                                                                                        -- if several
      WHERE state = 0 AND queue = :queue AND kind = m.kind AND digest IS m.digest AND priority = m.priority AND losses < 2 AND run_at > m.run_at AND run_at <= :due_by      -- if several
        AND {permitted}                                                                                                                                                  -- if limited_several
      ORDER BY run_at, id LIMIT 1))                                                                                                                                      -- if several
    END                                                                                                                                                                  -- if digested
  ORDER BY 1, 2, 3 LIMIT +:limit)                                                                                                                                        -- if by_priority
  ORDER BY 2, 3 LIMIT +:limit)                                                                                                                                           -- if by_age
UPDATE hourbell_job AS j
SET state = 2, node = :node, attempt = min(j.attempt + 1, 32767), started_at = :now,
    token = max((SELECT value FROM hourbell_counter WHERE name = 'token'), j.token) + due.place, begun = due.place <= :begin
FROM (
  SELECT id, row_number() OVER () AS place FROM (
    SELECT value AS id FROM json_each((SELECT json_group_array(id) FROM merged))                                                        -- if by_priority
    SELECT value AS id FROM json_each((SELECT json_group_array(id) FROM (SELECT id FROM merged ORDER BY priority, run_at, id)))         -- if by_age
    SELECT pick.value AS id                                                                                                             -- if one
    FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p, json_each((                                                                             -- if one
      SELECT json_group_array(id) FROM (                                                                                                -- if one
        SELECT id FROM hourbell_job                                                                                                     -- if one
        WHERE state = 0 AND queue = :queue AND kind = :kind AND digest IS NULL AND priority = p.value AND losses < 2 AND run_at <= :due_by -- if one
          AND {permitted}                                                                                                                                                -- if limited_one
        ORDER BY run_at, id LIMIT +:limit))) AS pick                                                                                    -- if one
    LIMIT +:limit                                                                                                                       -- if one
  )) AS due
WHERE j.id = due.id AND j.state = 0
  AND EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL)
RETURNING id, token, args, headers, attempt, origin, run_at, created_at,
          coalesce(schedule_id, 0) AS schedule_id, coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = schedule_id), '') AS schedule_name, slot, losses, refunds, {spec}
