-- statement UpdateAudit
-- Adds a count to an entry of the audit.
UPDATE hourbell_audit SET count = count + :count WHERE id = :id
