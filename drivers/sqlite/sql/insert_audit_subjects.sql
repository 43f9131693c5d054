-- statement InsertAuditSubjects
-- Adds subjects to an entry of the audit, up to a number of subjects.
INSERT INTO hourbell_audit_subject (entry_id, place, kind, name)
SELECT :id, k.known + s.key, s.value ->> 'kind', s.value ->> 'name'
FROM (SELECT count(*) AS known FROM hourbell_audit_subject WHERE entry_id = :id) AS k, jsonb_each(:subjects) AS s
WHERE k.known + s.key < :most
