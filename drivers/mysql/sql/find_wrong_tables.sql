-- Tables of Hourbell that have no transactions.
SELECT table_name AS name, COALESCE(engine, _utf8mb4'') AS engine FROM information_schema.tables
WHERE table_schema = DATABASE() AND LEFT(table_name, 9) = 'hourbell_' AND COALESCE(engine, _utf8mb4'') <> 'InnoDB'
ORDER BY table_name
