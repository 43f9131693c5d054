-- Describes the columns of a lock table in a schema, or in the first schema on
-- the search path that has the table if no schema is given; no row: there is no
-- such table. The catalogs are read by a query, because a query sees tables that
-- another process has just committed. The number in the parentheses of a type is
-- the length of a varchar, plus 4, and the precision of a timestamp.
SELECT n.nspname::text, a.attname::text, t.typname::text,
       CASE WHEN t.typname = 'varchar' AND a.atttypmod >= 0 THEN a.atttypmod - 4 ELSE 0 END,
       CASE WHEN a.atttypmod BETWEEN 0 AND 6 THEN a.atttypmod ELSE 6 END,
       '',
       EXISTS (SELECT FROM pg_catalog.pg_index AS i
               WHERE i.indrelid = c.oid AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
       EXISTS (SELECT FROM pg_catalog.pg_class AS s WHERE s.relnamespace = n.oid AND s.relname = :table::text || '_state')
FROM (SELECT c.oid, c.relnamespace
      FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE c.relname = :table::text AND c.relkind IN ('r', 'p', 'v', 'f')
        AND (n.nspname = :schema::text OR :schema::text = '' AND n.nspname = ANY (current_schemas(false)))
      ORDER BY array_position(current_schemas(false), n.nspname)
      LIMIT 1) AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
