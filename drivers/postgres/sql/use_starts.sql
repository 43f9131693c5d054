-- statement useStarts, takes ids, returns job_id lane
-- Takes from jobs, which are claimed, the starts that they hold, and returns the lanes of the starts.
WITH held AS MATERIALIZED (
    SELECT j.id, j.permits FROM {schema}.job AS j WHERE j.id = ANY (:ids::bigint[]) AND 0 > ANY (j.permits)
), used AS (
    UPDATE {schema}.job AS j SET permits = ARRAY(SELECT p.lane FROM unnest(j.permits) AS p (lane) WHERE p.lane > 0)
    FROM held AS h WHERE j.id = ANY (ARRAY[h.id])
)
SELECT h.id AS job_id, - p.lane AS lane FROM held AS h, unnest(h.permits) AS p (lane) WHERE p.lane < 0
