-- statement findWrongTables, returns name engine
-- Tables of Hourbell that have no transactions. A view, and a table that is being made, have no engine.
SELECT table_name AS name, engine AS engine FROM information_schema.tables
WHERE table_schema = DATABASE() AND LEFT(table_name, 9) = 'hourbell_' AND engine <> 'InnoDB'
ORDER BY table_name
