-- statement findHoldingNodes, returns node
-- The nodes among these that still hold running jobs.
SELECT DISTINCT node FROM hourbell_job FORCE INDEX (hourbell_job_ready) WHERE state = 2 AND node IN (:nodes)
