-- statement RequestCancels
-- Requests to cancel running jobs. The reason of the first request stays.
INSERT OR IGNORE INTO hourbell_cancel_request (job_id, requested_at, reason)
SELECT value ->> 'id', value ->> 'now', value ->> 'reason' FROM jsonb_each(:rows)
