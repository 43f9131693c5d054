-- statement lockQueueLimits, returns sqlrows.LimitColumns
-- The limits of a whole queue. Exchanges of their permits happen one after the other.
SELECT {limit_columns} FROM hourbell_job_limit WHERE queue = :queue AND kind = _utf8mb4'' AND by_key = 0 AND ended_at IS NULL ORDER BY id FOR UPDATE
