-- statement ListAudit, returns id at actor source action count detail, a listing
-- Entries of the audit, newest first.
SELECT a.id, {micros(a.at)} AS at, a.actor, a.source, a.action, a.count, a.detail
FROM hourbell_audit AS a
WHERE true
  AND a.actor = :actor                                                                                          -- if actor
  AND a.action = :action                                                                                        -- if action
  AND a.id IN (SELECT s.entry_id FROM hourbell_audit_subject AS s WHERE s.kind = :kind AND s.name = :name)      -- if subject
  AND a.at >= {at(:since)}                                                                                      -- if since
  AND a.at <= {at(:before_at)} AND (a.at < {at(:before_at)} OR a.id < :before_id)                               -- if before
ORDER BY a.at DESC, a.id DESC
LIMIT :limit
