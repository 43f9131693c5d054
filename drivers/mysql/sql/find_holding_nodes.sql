-- The nodes among these that still hold running jobs.
SELECT DISTINCT node FROM hourbell_job FORCE INDEX (hourbell_job_running) WHERE node IN (:nodes) AND state = 2
