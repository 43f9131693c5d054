-- statement LockOldAudit, returns id
-- Locks the oldest entries of the audit.
SELECT id FROM hourbell_audit WHERE at < {at(:before)} ORDER BY at, id LIMIT :limit
FOR UPDATE SKIP LOCKED
