-- statement ListEvents, given oldest, returns id at type subjects slots counts reasons
-- statement ListNewestEvents, given newest, returns id at type subjects slots counts reasons
-- Rows of the feed.
SELECT e.id, e.at, e.type, e.subjects, e.slots, e.counts, e.reasons
FROM hourbell_event AS e
WHERE e.id >= :from_id
ORDER BY e.id        -- if oldest
ORDER BY e.id DESC   -- if newest
LIMIT +:limit
