SELECT value FROM hourbell_counter WHERE name = :name
