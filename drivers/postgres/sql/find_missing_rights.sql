-- statement findMissingRights, takes schema, returns kind name rights
-- The rights that a node needs and the role does not have: on the schema, its tables, views, sequences and functions.
SELECT m.kind, m.name, m.rights
FROM (
    SELECT 'SCHEMA' AS kind, n.nspname::text AS name, CASE WHEN NOT has_schema_privilege(n.oid, 'USAGE') THEN 'USAGE' ELSE '' END AS rights
    FROM pg_catalog.pg_namespace AS n WHERE n.nspname = :schema::text
    UNION ALL
    SELECT CASE WHEN c.relkind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname::text, concat_ws(', ',
        CASE WHEN c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'USAGE') THEN 'USAGE' END,
        CASE WHEN c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'SELECT') THEN 'SELECT' END,
        CASE WHEN c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'UPDATE') THEN 'UPDATE' END,
        CASE WHEN c.relkind <> 'S' AND NOT has_table_privilege(c.oid, 'SELECT') THEN 'SELECT' END,
        CASE WHEN c.relkind IN ('r', 'p') AND NOT has_table_privilege(c.oid, 'INSERT') THEN 'INSERT' END,
        CASE WHEN c.relkind IN ('r', 'p') AND NOT has_table_privilege(c.oid, 'UPDATE') THEN 'UPDATE' END,
        CASE WHEN c.relkind IN ('r', 'p') AND NOT has_table_privilege(c.oid, 'DELETE') THEN 'DELETE' END)
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = :schema::text AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT 'FUNCTION', p.proname::text, CASE WHEN NOT has_function_privilege(p.oid, 'EXECUTE') THEN 'EXECUTE' ELSE '' END
    FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = :schema::text
) AS m
WHERE m.rights <> ''
ORDER BY m.kind, m.name
