-- statement DeleteAuditSubjects
-- Deletes the subjects of entries of the audit.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_audit_subject AS t FORCE INDEX (PRIMARY) ON t.entry_id = o.id
