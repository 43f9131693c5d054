-- shared statement findOccupiedLanes, returns id
-- The lanes among these in which jobs wait.
SELECT value AS id FROM json_each(:ids) WHERE EXISTS (SELECT 1 FROM hourbell_job WHERE lane = value)
