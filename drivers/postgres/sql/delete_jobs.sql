-- Deletes jobs, which are locked, with their attempts, and returns the schedules
-- of those that lived.
WITH living AS (
    DELETE FROM {schema}.job WHERE id = ANY ($1::bigint[]) RETURNING schedule_id, origin
), finished AS (
    DELETE FROM {schema}.history WHERE id = ANY ($1::bigint[])
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id = ANY ($1::bigint[])
)
SELECT schedule_id, origin = 3 FROM living
