-- The revision of the last sync of an owner.
SELECT revision FROM hourbell_owner WHERE name = :owner
