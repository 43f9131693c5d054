-- shared statement listOutput, returns job_id block data
-- The stored output of the last claims of live jobs, from a block on.
SELECT p.job_id, p.block, p.data
FROM json_each(:ids) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value
CROSS JOIN hourbell_output AS p ON p.job_id = j.id AND p.token = j.token
WHERE p.block >= :first
ORDER BY p.job_id, p.block
