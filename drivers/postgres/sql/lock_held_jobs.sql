-- Locks what nodes hold that have ended, in the order of the jobs' numbers.
SELECT j.id, j.token, j.kind, j.queue, j.node, j.attempt, j.max_attempts, j.on_loss,
    j.headers, j.schedule_id, s.name, j.slot, j.origin = 3
FROM {schema}.job AS j LEFT JOIN {schema}.schedule AS s ON s.id = j.schedule_id
WHERE j.id = ANY (ARRAY(SELECT unnest(ids) FROM {schema}.lease WHERE node = ANY ($1::bigint[])))
    AND j.node = ANY ($1::bigint[]) AND j.running
ORDER BY j.id
FOR UPDATE OF j
