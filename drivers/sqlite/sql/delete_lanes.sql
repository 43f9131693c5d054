-- shared statement deleteLanes
-- Deletes lanes.
DELETE FROM hourbell_lane WHERE id IN (SELECT value FROM json_each(:ids))
