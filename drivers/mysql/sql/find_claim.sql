-- statement FindClaim, returns state
-- What became of a claim whose job is not live, or is locked: 1 a transaction has locked the job, 2 it was completed,
-- or neither the job nor its history exists, 3 the claim was lost. A job that has just been completed is not live
-- any more.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM hourbell_history WHERE id = :id AND NOT (token = :token AND state = 3)) THEN 3
    WHEN EXISTS (SELECT 1 FROM hourbell_history WHERE id = :id) THEN 2
    WHEN EXISTS (SELECT 1 FROM hourbell_job WHERE id = :id) THEN 1
    ELSE 2 END AS state
