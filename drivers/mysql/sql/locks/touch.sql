-- Writes the row of a lock that still has its token, before check. In a cluster a
-- lock of a row excludes only the transactions of one server, but of two
-- transactions that write a row the cluster lets one commit. The owner cannot
-- extend the lock until the commit.
UPDATE {table}
SET lock_until = lock_until + INTERVAL 1 MICROSECOND
WHERE name = :name
  AND EXISTS (SELECT 1 FROM {state} AS s WHERE s.name = :name AND s.token = :token)
