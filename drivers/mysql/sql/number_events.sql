-- Gives rows of the feed the numbers after a number, in the order of the list.
UPDATE JSON_TABLE(:entries, '$[*]' COLUMNS (place FOR ORDINALITY, entry BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_event AS e FORCE INDEX (PRIMARY) ON e.entry = o.entry
SET e.id = :last + o.place
