-- statement deleteReleases, takes ids
-- Deletes rows of notes that are carried out.
DELETE FROM {schema}.release WHERE id = ANY (:ids::bigint[])
