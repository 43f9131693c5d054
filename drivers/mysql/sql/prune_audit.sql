-- shared statement pruneAudit
-- Deletes entries of the audit, which are locked.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_audit AS t FORCE INDEX (PRIMARY) ON t.id = o.id
