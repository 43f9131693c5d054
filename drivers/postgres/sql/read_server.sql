-- statement readServer, takes schema, returns version version_number database role encoding standby autovacuum connections_left has_schema may_migrate
-- What Hourbell needs to know of the server, the database and the role. The number of connections that
-- are left is for roles that are not superusers.
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::bigint AS version_number,
    current_database()::text AS database, current_user::text AS role, current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
    current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean AS autovacuum,
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
        - (SELECT count(*) FROM pg_catalog.pg_stat_activity AS a WHERE a.backend_type = 'client backend') AS connections_left,
    n.oid IS NOT NULL AS has_schema,
    CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE') ELSE pg_has_role(n.nspowner, 'USAGE') END AS may_migrate
FROM (SELECT) AS one LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = :schema::text
