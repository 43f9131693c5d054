-- statement lockNotStarted, given waiting, returns id
-- statement lockFreeNotStarted, given free, returns id
-- Locks jobs that were not started, in the order of their numbers.
SELECT h.id FROM hourbell_history AS h FORCE INDEX (PRIMARY) WHERE h.id IN (:ids) AND h.state = 6 ORDER BY h.id
FOR UPDATE              -- if waiting
FOR UPDATE SKIP LOCKED  -- if free
