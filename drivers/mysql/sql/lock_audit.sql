-- shared statement lockAudit, returns known
-- Locks an entry of the audit, and counts its subjects.
SELECT count(s.place) AS known
FROM hourbell_audit AS a LEFT JOIN hourbell_audit_subject AS s ON s.entry_id = a.id
WHERE a.id = :id
GROUP BY a.id FOR UPDATE
