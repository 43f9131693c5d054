-- statement LockOldAudit, returns id
-- The oldest entries of the audit.
SELECT id FROM hourbell_audit WHERE at < :before ORDER BY at, id LIMIT +:limit
