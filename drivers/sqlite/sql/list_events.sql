-- statement listEvents, given oldest, returns id at type subjects names slots counts reasons
-- statement listNewestEvents, given newest, returns id at type subjects names slots counts reasons
-- Rows of the feed.
SELECT e.id, e.at, e.type, e.subjects, CASE WHEN e.type >= 32 THEN (
    SELECT json_group_array(coalesce(s.name, '') ORDER BY u.key) FROM json_each(e.subjects) AS u LEFT JOIN hourbell_schedule AS s ON s.id = u.value
  ) END AS names, e.slots, e.counts, e.reasons
FROM hourbell_event AS e
WHERE e.id >= :from_id
ORDER BY e.id        -- if oldest
ORDER BY e.id DESC   -- if newest
LIMIT +:limit
