-- statement deleteCopy, takes owner host
-- Deletes the copy of a host that has no copy any more.
DELETE FROM {schema}.copy WHERE owner = :owner::text AND host = :host::text
