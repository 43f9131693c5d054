-- statement ListEvents, given oldest, returns id at type subjects slots counts reasons
-- statement ListNewestEvents, given newest, returns id at type subjects slots counts reasons
-- Rows of the feed.
SELECT id, {micros(at)} AS at, type, subjects, slots, counts, reasons
FROM hourbell_event
WHERE id >= :from_id
ORDER BY id        -- if oldest
ORDER BY id DESC   -- if newest
LIMIT :limit
