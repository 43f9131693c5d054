-- statement ListSchedules, returns ScheduleColumns since, a listing
-- Schedules by name, in byte order.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures,
       (SELECT f.since FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id) AS since
FROM hourbell_schedule
WHERE name > :after
  AND name IN (SELECT value FROM json_each(:names))   -- if names
  AND id IN (SELECT value FROM json_each(:ids))       -- if ids
  AND owner = :owner                                  -- if owner
  AND group_name = :group_name                        -- if group
  AND id IN (SELECT u.schedule_id FROM hourbell_calendar_use AS u WHERE u.calendar = :calendar) -- if calendar
  AND id IN (SELECT CASE WHEN x.state = 4 THEN x.schedule_id END FROM hourbell_history AS x INDEXED BY hourbell_history_failed -- if failed
             WHERE x.state >= 4 ORDER BY x.id DESC LIMIT +:failed_among) -- if failed
  AND mark > :mark_after                              -- if marked
  AND deleted_at IS NULL                              -- if living
ORDER BY name
LIMIT +:limit
