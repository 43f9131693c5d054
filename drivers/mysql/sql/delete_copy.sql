-- shared statement deleteCopy
-- Deletes the copy of a host that has no copy any more.
DELETE FROM hourbell_copy WHERE owner = :owner AND host = :host
