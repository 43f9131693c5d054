-- statement readSnapshot, returns snapshot server
-- The server's snapshot, min:max:running transactions (on a standby it is empty, because transactions
-- of the primary are unknown there), and a value that differs for each server and after each restart.
SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_current_snapshot()::text END AS snapshot,
    extract(epoch FROM pg_postmaster_start_time())::text AS server
