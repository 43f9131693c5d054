-- statement ListAuditSubjects, returns entry_id kind name
-- The subjects of entries of the audit.
SELECT entry_id, kind, name FROM hourbell_audit_subject WHERE entry_id IN (:ids) ORDER BY entry_id, place
