-- statement returnPausedPermits, takes subject name
-- Takes permits from jobs of a subject that no node has claimed, without jobs that others have locked. They are given back by a row in
-- vacancy.
WITH paused AS MATERIALIZED (
    SELECT j.id, j.permits FROM {schema}.job AS j
    WHERE j.permits IS NOT NULL AND NOT j.running
        AND {concerns(:subject::smallint, :name::text, j)}
    FOR UPDATE SKIP LOCKED
), vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM paused, unnest(permits) AS p (lane) HAVING count(*) > 0
)
UPDATE {schema}.job SET permits = NULL WHERE id = ANY (ARRAY(SELECT id FROM paused))
