-- shared statement deleteReleases
-- Deletes notes that are carried out.
DELETE FROM hourbell_release WHERE id IN (SELECT value FROM json_each(:ids))
