-- Deletes rows of processes and connections that are probably gone. A row that is raised again begins again.
DELETE FROM hourbell_wake WHERE source IN (:sources)
