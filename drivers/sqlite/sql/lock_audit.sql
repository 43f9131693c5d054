-- shared statement lockAudit, returns known
-- The number of the subjects of an entry of the audit.
SELECT (SELECT count(*) FROM hourbell_audit_subject AS s WHERE s.entry_id = a.id) AS known FROM hourbell_audit AS a WHERE a.id = :id
