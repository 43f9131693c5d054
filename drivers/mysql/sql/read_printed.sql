-- shared statement readPrinted, returns attempt printed output
-- The output of an attempt that has ended.
SELECT attempt, printed, output FROM hourbell_attempt WHERE job_id = :id AND token = :token
