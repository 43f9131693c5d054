-- shared statement insertAuditSubjects
-- Adds subjects to an entry of the audit.
INSERT INTO hourbell_audit_subject (entry_id, place, kind, name)
SELECT value ->> 'id', value ->> 'place', value ->> 'kind', value ->> 'name' FROM jsonb_each(:rows)
