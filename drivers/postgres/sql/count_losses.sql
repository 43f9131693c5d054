-- statement countLosses, takes ids
-- Counts one more loss of jobs, which are locked.
UPDATE {schema}.job SET losses = least(losses + 1, 32767) WHERE id = ANY (:ids::bigint[])
