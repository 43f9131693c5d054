-- Describes the columns of a lock table in a database, or in the connection's own
-- database if no database is given; no row: there is no such table. The schema is
-- returned as given, so that statements do not name the connection's own database.
SELECT :schema, c.column_name, c.data_type, COALESCE(c.character_maximum_length, 0), COALESCE(c.datetime_precision, 0),
       COALESCE(c.character_set_name, ''),
       EXISTS (SELECT 1 FROM information_schema.statistics AS i
               WHERE i.table_schema = c.table_schema AND i.table_name = c.table_name AND i.non_unique = 0
               GROUP BY i.index_name
               HAVING COUNT(*) = 1 AND MAX(i.column_name) = c.column_name AND MAX(i.sub_part) IS NULL),
       EXISTS (SELECT 1 FROM information_schema.tables AS s
               WHERE s.table_schema = c.table_schema AND s.table_name = CONCAT(c.table_name, '_state'))
FROM information_schema.columns AS c
WHERE c.table_schema = COALESCE(NULLIF(:schema, ''), DATABASE()) AND c.table_name = :table
