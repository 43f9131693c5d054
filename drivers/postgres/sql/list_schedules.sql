-- statement listSchedules, given any, takes scheduleFilterParams, returns scheduleColumns since
-- statement listFailedSchedules, given failed, takes scheduleFilterParams, returns scheduleColumns since
-- statement listCalendarSchedules, given calendar, takes scheduleFilterParams, returns scheduleColumns since
-- Schedules by name, in byte order. A condition that is null does not count.
SELECT {schedule_columns}, f.failures, f.since
FROM {schema}.schedule LEFT JOIN {schema}.failing AS f ON f.schedule_id = id
WHERE (:names::text[] IS NULL OR name = ANY (:names))
    AND (:ids::bigint[] IS NULL OR id = ANY (:ids))
    AND (:owner::text IS NULL OR owner = :owner)
    AND name > :after::text COLLATE "C"
    AND (:deleted::boolean OR deleted_at IS NULL)
    AND (:group_name::text IS NULL OR group_name = :group_name)
    AND (:mark_after::timestamptz IS NULL OR mark > :mark_after)
    AND (:calendar::text IS NULL OR id IN (SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = :calendar)) -- if failed
    AND id = ANY (ARRAY(SELECT DISTINCT h.schedule_id                                                                 -- if failed
        FROM (SELECT schedule_id, state FROM {schema}.history WHERE state >= 4 ORDER BY id DESC LIMIT :failed_among::bigint) AS h -- if failed
        WHERE h.state = 4 AND h.schedule_id IS NOT NULL))                                                             -- if failed
    AND :failed_among::bigint IS NOT NULL                                                                             -- if any
    AND :failed_among::bigint IS NOT NULL                                                                             -- if calendar
    AND :calendar::text IS NULL                                                                                       -- if any
    AND id IN (SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = :calendar::text)               -- if calendar
ORDER BY name LIMIT :limit::bigint
