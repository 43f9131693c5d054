-- shared statement insertAudit
-- Stores an entry of the audit without its subjects.
INSERT INTO hourbell_audit (at, actor, source, action, count, detail)
VALUES ({at(:now)}, :actor, :source, :action, :count, :detail)
