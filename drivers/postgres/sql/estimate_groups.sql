-- statement estimateGroups, takes shares numbers, returns name schedules ready scheduled running waiting job_part schedule_part
-- The groups that a schedule or a live job has, with what they have, counted in samples as in
-- estimate_queues.sql: of jobs, and of schedules. The names are exact. job_part and
-- schedule_part are which parts of all numbers the samples have.
WITH RECURSIVE of_jobs AS (
    (SELECT group_name AS name FROM {schema}.job WHERE group_name IS NOT NULL ORDER BY group_name LIMIT 1)
    UNION ALL
    SELECT (SELECT j.group_name FROM {schema}.job AS j WHERE j.group_name > n.name ORDER BY j.group_name LIMIT 1)
    FROM of_jobs AS n WHERE n.name IS NOT NULL
), of_schedules AS (
    (SELECT group_name AS name FROM {schema}.schedule WHERE group_name IS NOT NULL AND deleted_at IS NULL ORDER BY group_name LIMIT 1)
    UNION ALL
    SELECT (SELECT s.group_name FROM {schema}.schedule AS s WHERE s.group_name > n.name AND s.deleted_at IS NULL ORDER BY s.group_name LIMIT 1)
    FROM of_schedules AS n WHERE n.name IS NOT NULL
), span AS (
    {span(job)}
), schedule_span AS (
    {span(schedule)}
), samples AS (
    {samples(span)}
), schedule_samples AS (
    {samples(schedule_span)}
), counted AS (
    SELECT j.group_name AS name,
        {live_counts(NULL::timestamptz)}
    FROM samples AS s, LATERAL (
        SELECT group_name, state, running, run_at FROM {schema}.job WHERE id >= s.from_id AND id < s.to_id OFFSET 0
    ) AS j
    WHERE j.group_name IS NOT NULL
    GROUP BY j.group_name
), counted_schedules AS (
    SELECT c.group_name AS name, count(*) AS schedules
    FROM schedule_samples AS s, LATERAL (
        SELECT group_name, deleted_at FROM {schema}.schedule WHERE id >= s.from_id AND id < s.to_id OFFSET 0
    ) AS c
    WHERE c.group_name IS NOT NULL AND c.deleted_at IS NULL
    GROUP BY c.group_name
)
SELECT name, coalesce(g.schedules, 0) AS schedules, coalesce(c.ready, 0) AS ready, coalesce(c.scheduled, 0) AS scheduled,
    coalesce(c.running, 0) AS running, coalesce(c.waiting, 0) AS waiting,
    coalesce({part(samples, span)}, 1) AS job_part,
    coalesce({part(schedule_samples, schedule_span)}, 1) AS schedule_part
FROM (SELECT name FROM of_jobs UNION SELECT name FROM of_schedules) AS n
    LEFT JOIN counted AS c USING (name) LEFT JOIN counted_schedules AS g USING (name)
WHERE name IS NOT NULL ORDER BY name
