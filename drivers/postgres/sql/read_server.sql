-- statement readServer, takes schema, returns version version_number database role encoding standby autovacuum connections_left role_connections_left statement_timeout lock_timeout idle_session_timeout has_schema may_migrate
-- What Hourbell needs to know of the server, the database and the role. The number of connections that
-- are left is for roles that are not superusers; that of the role is NULL without a limit. The timeouts are in milliseconds,
-- 0 without a limit, as the role's sessions get them.
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::bigint AS version_number,
    current_database()::text AS database, current_user::text AS role, current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
    current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean AS autovacuum,
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
        - (SELECT count(*) FROM pg_catalog.pg_stat_activity AS a WHERE a.backend_type = 'client backend') AS connections_left,
    (SELECT r.rolconnlimit - (SELECT count(*) FROM pg_catalog.pg_stat_activity AS a WHERE a.usesysid = r.oid)
        FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user AND r.rolconnlimit >= 0) AS role_connections_left,
    (SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
    (SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'lock_timeout') AS lock_timeout,
    coalesce((SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'idle_session_timeout'), 0) AS idle_session_timeout,
    n.oid IS NOT NULL AS has_schema,
    CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE') ELSE pg_has_role(n.nspowner, 'USAGE') END AS may_migrate
FROM (SELECT) AS one LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = :schema::text
