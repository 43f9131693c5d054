-- shared statement deleteReleases
-- Deletes notes that are carried out.
DELETE r FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o STRAIGHT_JOIN hourbell_release AS r FORCE INDEX (PRIMARY) ON r.id = o.id
