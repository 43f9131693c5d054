-- statement listAudit, takes actor action kind name since before_at before_id limit, returns id at actor source action count detail kinds names
-- Entries of the audit, newest first. A condition that is null does not count.
SELECT a.id, a.at, a.actor, a.source, a.action, a.count, a.detail,
    ARRAY(SELECT s.kind FROM {schema}.audit_subject AS s WHERE s.entry_id = a.id ORDER BY s.place) AS kinds,
    ARRAY(SELECT s.name FROM {schema}.audit_subject AS s WHERE s.entry_id = a.id ORDER BY s.place) AS names
FROM {schema}.audit AS a
WHERE (:actor::text IS NULL OR a.actor = :actor)
    AND (:action::text IS NULL OR a.action = :action)
    AND (:kind::text IS NULL OR a.id = ANY (ARRAY(SELECT s.entry_id FROM {schema}.audit_subject AS s WHERE s.kind = :kind AND s.name = :name::text)))
    AND (:since::timestamptz IS NULL OR a.at >= :since)
    AND (:before_at::timestamptz IS NULL OR (a.at, a.id) < (:before_at, :before_id::bigint))
ORDER BY a.at DESC, a.id DESC LIMIT :limit::bigint
