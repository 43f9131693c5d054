-- statement findEnds, takes ids, returns id state finished_at reason
-- How finished jobs ended.
SELECT id, state, finished_at, reason FROM {schema}.history WHERE id = ANY (:ids::bigint[])
