-- statement findOldAudit, returns id
-- An old entry of the audit.
SELECT id FROM hourbell_audit WHERE at < {at(:before)} ORDER BY at, id LIMIT :limit
