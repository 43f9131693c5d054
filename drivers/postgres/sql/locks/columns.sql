-- Lists the columns of the lock table $2 of schema $1, or of the first schema
-- on the search path that has the table if $1 is empty; no row: there is no
-- such table. The catalogs are read by a query, because a query sees tables
-- that another process has just committed.
SELECT n.nspname::text, a.attname::text, t.typname::text, a.atttypmod,
       EXISTS (SELECT FROM pg_catalog.pg_index AS i
               WHERE i.indrelid = c.oid AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
       EXISTS (SELECT FROM pg_catalog.pg_class AS s WHERE s.relnamespace = n.oid AND s.relname = $3::text)
FROM (SELECT c.oid, c.relnamespace
      FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE c.relname = $2::text AND c.relkind IN ('r', 'p', 'v', 'f')
        AND (n.nspname = $1::text OR $1::text = '' AND n.nspname = ANY (current_schemas(false)))
      ORDER BY array_position(current_schemas(false), n.nspname)
      LIMIT 1) AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
