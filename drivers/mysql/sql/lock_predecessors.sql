-- statement lockFreePredecessors, given free, returns id
-- statement lockPredecessors, given waiting, returns id
-- Locks live jobs, in the order of their numbers, and waits for the transactions that end them.
SELECT id FROM hourbell_job FORCE INDEX (PRIMARY) WHERE id IN (:ids) ORDER BY id
FOR UPDATE         -- if waiting
FOR UPDATE NOWAIT  -- if free
