-- statement findOldTransaction, returns connection seconds
-- The transaction of the server that has been open for the longest time, if it is longer than :seconds: until it ends,
-- the server keeps old versions of the rows that others change.
SELECT trx_mysql_thread_id AS connection, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS seconds
FROM information_schema.innodb_trx
WHERE TIMESTAMPDIFF(SECOND, trx_started, NOW()) > :seconds
ORDER BY seconds DESC LIMIT 1
