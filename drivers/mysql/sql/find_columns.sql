-- statement findColumns, returns name column_name
-- A column of each table of Hourbell that can be written.
SELECT table_name AS name, MIN(column_name) AS column_name FROM information_schema.columns
WHERE table_schema = DATABASE() AND LEFT(table_name, 9) = 'hourbell_' AND extra NOT LIKE '%GENERATED%'
GROUP BY table_name ORDER BY table_name
