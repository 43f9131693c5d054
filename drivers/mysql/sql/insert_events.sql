-- shared statement insertEvents
-- Stores rows of the feed, if events are kept.
INSERT INTO hourbell_event (at, type, subjects, slots, counts, reasons)
SELECT {at(:now)}, e.type, e.subjects, e.slots, e.counts, e.reasons
FROM JSON_TABLE(:events, '$[*]' COLUMNS (type SMALLINT PATH '$.type', subjects LONGTEXT CHARACTER SET utf8mb4 PATH '$.subjects', slots LONGTEXT CHARACTER SET utf8mb4 PATH '$.slots', counts LONGTEXT CHARACTER SET utf8mb4 PATH '$.counts', reasons LONGTEXT CHARACTER SET utf8mb4 PATH '$.reasons')) AS e
WHERE (SELECT f.keep FROM hourbell_feed AS f) > 0
