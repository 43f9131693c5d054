-- statement EndLimits
-- Ends limits. Their rows stay until their lanes are empty.
UPDATE hourbell_job_limit SET ended_at = {at(:now)} WHERE id IN (:ids)
