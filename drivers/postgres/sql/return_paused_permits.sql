-- Takes permits from jobs of a subject that no node has claimed, without jobs that others have locked. They are given back by a row in
-- vacancy.
WITH paused AS MATERIALIZED (
    SELECT j.id, j.permits FROM {schema}.job AS j
    WHERE j.permits IS NOT NULL AND NOT j.running
        AND CASE :subject::smallint WHEN 0 THEN j.group_name WHEN 1 THEN CASE WHEN left(j.queue, length(:name::text) + 1) = :name::text || '@' THEN :name::text ELSE j.queue END WHEN 2 THEN j.kind ELSE j.job_key END = :name::text
    FOR UPDATE SKIP LOCKED
), vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM paused, unnest(permits) AS p (lane) HAVING count(*) > 0
)
UPDATE {schema}.job SET permits = NULL WHERE id = ANY (ARRAY(SELECT id FROM paused))
