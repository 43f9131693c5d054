-- statement RequestCancels
-- Requests to cancel running jobs. The reason of the first request stays.
INSERT INTO hourbell_cancel_request (job_id, requested_at, reason)
VALUES
(:id, {at(:now)}, :reason)
ON DUPLICATE KEY UPDATE job_id = VALUES(job_id)
