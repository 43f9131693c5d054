-- statement findOldTransaction, takes seconds, returns process name seconds
-- The transaction of the database that has been open for the longest time, if it is longer than :seconds: until it ends,
-- deleted and replaced rows stay in tables and indexes. A prepared transaction has the process 0.
SELECT o.process, o.name, o.seconds
FROM (
    SELECT a.pid::bigint AS process, coalesce(a.application_name, '')::text AS name, extract(epoch FROM now() - a.xact_start)::bigint AS seconds
    FROM pg_catalog.pg_stat_activity AS a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend' AND a.xact_start IS NOT NULL
    UNION ALL
    SELECT 0, p.gid::text, extract(epoch FROM now() - p.prepared)::bigint
    FROM pg_catalog.pg_prepared_xacts AS p
    WHERE p.database = current_database()
) AS o
WHERE o.seconds > :seconds::bigint
ORDER BY o.seconds DESC LIMIT 1
