-- statement deleteLanes, takes ids
-- Deletes lanes, which are locked.
DELETE FROM {schema}.lane WHERE id = ANY (:ids::bigint[])
