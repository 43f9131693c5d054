-- statement findBrokenIndexes, takes schema, returns name
-- The indexes of the schema that statements cannot use, as after CREATE INDEX CONCURRENTLY or REINDEX CONCURRENTLY has failed.
SELECT c.relname::text AS name
FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = :schema::text AND NOT (i.indisvalid AND i.indisready)
ORDER BY c.relname
