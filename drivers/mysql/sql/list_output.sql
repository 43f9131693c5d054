-- shared statement listOutput, returns job_id block data
-- The stored output of the last claims of live jobs, from a block on.
SELECT p.job_id, p.block, p.data
FROM hourbell_output AS p JOIN hourbell_job AS j ON j.id = p.job_id AND j.token = p.token
WHERE p.job_id IN (:ids) AND p.block >= :first
ORDER BY p.job_id, p.block
