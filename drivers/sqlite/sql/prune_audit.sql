-- statement pruneAudit, returns id
-- Deletes the oldest entries of the audit.
DELETE FROM hourbell_audit WHERE id IN (
  SELECT id FROM hourbell_audit WHERE at < :before
  ORDER BY at, id
  LIMIT +:limit)
RETURNING id
