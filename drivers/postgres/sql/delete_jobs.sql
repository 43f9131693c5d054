-- Deletes jobs, which are locked, with their attempts.
WITH living AS (
    DELETE FROM {schema}.job WHERE id = ANY ($1::bigint[])
), finished AS (
    DELETE FROM {schema}.history WHERE id = ANY ($1::bigint[])
)
DELETE FROM {schema}.attempt WHERE job_id = ANY ($1::bigint[])
