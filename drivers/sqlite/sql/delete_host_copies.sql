-- shared statement deleteHostCopies
-- Deletes the copies that a host declared.
DELETE FROM hourbell_copy WHERE host = :host
