-- Locks jobs after a number that a limit concerns, that hold permits and that no node has claimed, without those that others have locked.
SELECT j.id, j.permits FROM {schema}.job AS j
WHERE j.permits IS NOT NULL AND j.id > :after_id::bigint AND j.state = 0 AND NOT j.running AND {in_scope(:queue::text, :kind::text, :by_key::boolean, j)}
ORDER BY j.id LIMIT :limit::bigint
FOR UPDATE SKIP LOCKED
