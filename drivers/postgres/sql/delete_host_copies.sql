-- statement deleteHostCopies, takes host
-- Deletes the copies that a host declared.
DELETE FROM {schema}.copy WHERE host = :host
