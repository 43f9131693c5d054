-- statement lockLaneHolders, takes lanes limit, returns id permits
-- Locks jobs that hold permits of lanes and that no node has claimed, also parked jobs. Jobs that other transactions have locked are left out.
SELECT j.id, j.permits FROM {schema}.job AS j
WHERE j.permits IS NOT NULL AND j.permits && :lanes::bigint[] AND j.state IN (0, -1) AND NOT j.running
ORDER BY j.id LIMIT :limit::bigint
FOR UPDATE SKIP LOCKED
