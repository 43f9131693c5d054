-- shared statement deleteEdges
-- Deletes what jobs wait or waited for.
DELETE FROM hourbell_edge WHERE job_id IN (SELECT value FROM json_each(:ids))
