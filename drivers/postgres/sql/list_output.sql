-- statement listOutput, takes ids first_block, returns job_id block data
-- The stored output of the last claims of live jobs, from a block on.
SELECT p.job_id, p.block, p.data
FROM {schema}.output AS p
WHERE p.job_id = ANY (:ids::bigint[]) AND p.block >= :first_block::bigint
    AND p.token = (SELECT j.token FROM {schema}.job AS j WHERE j.id = ANY (ARRAY[p.job_id]))
ORDER BY p.job_id, p.block
