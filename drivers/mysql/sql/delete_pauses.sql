-- statement DeletePauses
-- Deletes a pause.
DELETE FROM hourbell_pause WHERE subject = :subject AND name = :name
