-- statement readServer, returns version database_name user_name is_read_only flushes has_log syncs packet clock
-- What Hourbell needs to know of the server, the database and the user.
SELECT VERSION() AS version, COALESCE(DATABASE(), _utf8mb4'') AS database_name, CURRENT_USER() AS user_name, @@GLOBAL.read_only AS is_read_only,
       @@GLOBAL.innodb_flush_log_at_trx_commit AS flushes, @@GLOBAL.log_bin AS has_log, @@GLOBAL.sync_binlog AS syncs,
       @@GLOBAL.max_allowed_packet AS packet, UNIX_TIMESTAMP(NOW(6)) AS clock
