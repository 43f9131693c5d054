-- statement FindClaim, returns state
-- What became of a claim: 0 the job still has the token, 2 it was completed, or neither
-- the job nor its history exists, 3 the claim was lost.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM hourbell_job WHERE id = :id AND token = :token) THEN 0
    WHEN EXISTS (SELECT 1 FROM hourbell_job WHERE id = :id) THEN 3
    WHEN EXISTS (SELECT 1 FROM hourbell_history WHERE id = :id AND NOT (token = :token AND state = 3)) THEN 3
    ELSE 2 END AS state
