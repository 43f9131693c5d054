-- shared statement deleteHostCopies
-- Deletes the copies of a host.
DELETE FROM hourbell_copy WHERE host = :host
