-- statement markReleases, takes ids
-- Lets the ends of live jobs, which are locked, leave rows in release.
UPDATE {schema}.job SET releases = true WHERE id = ANY (:ids::bigint[]) AND NOT releases
