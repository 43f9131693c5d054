-- shared statement deleteVacancies
-- Deletes rows of permits that were given back and of limits that were changed, which are locked.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_vacancy AS t FORCE INDEX (PRIMARY) ON t.id = o.id
