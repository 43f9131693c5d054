-- statement EndLimits
-- Ends limits. Their rows stay until their lanes are empty.
UPDATE hourbell_job_limit SET ended_at = :now WHERE id IN (SELECT value FROM json_each(:ids))
