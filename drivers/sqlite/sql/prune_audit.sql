-- shared statement pruneAudit
-- Deletes entries of the audit.
DELETE FROM hourbell_audit WHERE id IN (SELECT value FROM json_each(:ids))
