-- Locks jobs that hold permits of lanes and that no node has claimed. Jobs that other transactions have locked are left out.
SELECT j.id, j.permits FROM {schema}.job AS j
WHERE j.permits IS NOT NULL AND j.permits && :lanes::bigint[] AND j.state = 0 AND NOT j.running
ORDER BY j.id LIMIT :limit::bigint
FOR UPDATE SKIP LOCKED
