-- statement DeleteEndedJobs
-- Deletes live jobs that end_jobs has copied to history.
DELETE j FROM hourbell_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN (:ids)
