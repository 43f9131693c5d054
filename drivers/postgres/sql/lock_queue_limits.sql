-- statement lockQueueLimits, takes queue, returns limitColumns
-- The limits of a whole queue. Exchanges of their permits happen one after the other.
SELECT {limit_columns} FROM {schema}.job_limit WHERE queue = :queue::text AND kind = '' AND NOT by_key AND ended_at IS NULL ORDER BY id FOR NO KEY UPDATE
