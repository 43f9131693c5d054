-- statement DeleteAuditSubjects
-- Deletes the subjects of entries of the audit.
DELETE FROM hourbell_audit_subject WHERE entry_id IN (SELECT value FROM json_each(:ids))
