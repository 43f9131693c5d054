-- statement listGroups, takes now name, returns groupColumns
-- The groups that a schedule or a live job has, with what they have.
SELECT name, sum(schedules)::bigint AS schedules, sum(ready)::bigint AS ready, sum(scheduled)::bigint AS scheduled,
    sum(running)::bigint AS running, sum(waiting)::bigint AS waiting
FROM (
    SELECT group_name AS name, count(*) AS schedules, 0 AS ready, 0 AS scheduled, 0 AS running, 0 AS waiting
    FROM {schema}.schedule
    WHERE group_name IS NOT NULL AND deleted_at IS NULL AND (:name::text IS NULL OR group_name = :name)
    GROUP BY group_name
    UNION ALL
    SELECT group_name, 0,
        {live_counts(:now::timestamptz)}
    FROM {schema}.job
    WHERE group_name IS NOT NULL AND (:name::text IS NULL OR group_name = :name)
    GROUP BY group_name
) AS parts
GROUP BY name ORDER BY name
