-- statement readPrinted, takes id token, returns attempt printed output
-- The output of an attempt that has ended.
SELECT attempt, printed, output FROM {schema}.attempt WHERE job_id = :id::bigint AND token = :token::bigint
