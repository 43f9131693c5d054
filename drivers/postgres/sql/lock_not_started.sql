-- statement lockNotStarted, given waiting, takes ids, returns id
-- statement lockFreeNotStarted, given free, takes ids, returns id
-- Locks jobs that were not started, in the order of their numbers.
SELECT id FROM {schema}.history WHERE id = ANY (:ids::bigint[]) AND state = 6 ORDER BY id
FOR UPDATE              -- if waiting
FOR UPDATE SKIP LOCKED  -- if free
