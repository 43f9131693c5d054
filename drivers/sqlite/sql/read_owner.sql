SELECT revision FROM hourbell_owner WHERE name = :owner
