-- statement upsertOutput, takes ids tokens first_blocks last_blocks block_ids blocks data, returns id token
-- Stores blocks of the output of running jobs that have the tokens of the claims, deletes
-- what is outside the windows, and returns the jobs. A job is locked, so that the end of
-- its attempt finds all rows; a job that others have locked is left out.
WITH held AS (
    SELECT j.id, j.token, o.first, o.last
    FROM unnest(:ids::bigint[], :tokens::bigint[], :first_blocks::bigint[], :last_blocks::bigint[]) AS o (id, token, first, last)
        JOIN {schema}.job AS j ON j.id = ANY (ARRAY[o.id])
    WHERE j.token = o.token AND j.running
    ORDER BY j.id + 0
    FOR SHARE OF j SKIP LOCKED
), cut AS (
    DELETE FROM {schema}.output AS p USING held AS h
    WHERE p.job_id = ANY (ARRAY[h.id]) AND (p.token <> h.token OR p.block NOT BETWEEN h.first AND h.last)
), saved AS (
    INSERT INTO {schema}.output (job_id, token, block, data)
    SELECT h.id, h.token, b.block, b.data
    FROM unnest(:block_ids::bigint[], :blocks::bigint[], :data::bytea[]) AS b (id, block, data) JOIN held AS h ON h.id = b.id
    ORDER BY h.id, b.block
    ON CONFLICT (job_id, token, block) DO UPDATE SET data = excluded.data
)
SELECT id, token FROM held
