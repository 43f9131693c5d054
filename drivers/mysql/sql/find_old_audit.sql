-- statement findOldAudit, returns id
-- statement lockOldAudit, given lock, returns id
-- The oldest entries of the audit.
SELECT id FROM hourbell_audit WHERE at < {at(:before)} ORDER BY at, id LIMIT :limit
FOR UPDATE SKIP LOCKED -- if lock
