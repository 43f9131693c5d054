-- statement ListSchedules, returns ScheduleColumns since, a listing
-- Schedules by name, in byte order.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures,
       (SELECT {micros(f.since)} FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id) AS since
FROM hourbell_schedule
WHERE name > :after
  AND name IN (:names)                                -- if names
  AND id IN (:ids)                                    -- if ids
  AND owner = :owner                                  -- if owner
  AND group_name = :group_name                        -- if group
  AND id IN (SELECT u.schedule_id FROM hourbell_calendar_use AS u WHERE u.calendar = :calendar) -- if calendar
  AND id IN (SELECT h.schedule_id FROM (SELECT x.schedule_id, x.state FROM hourbell_history AS x FORCE INDEX (hourbell_history_failed) -- if failed
                                        WHERE x.failed = 1 ORDER BY x.id DESC LIMIT :failed_among) AS h -- if failed
             WHERE h.state = 4)                         -- if failed
  AND mark > {at(:mark_after)}                        -- if marked
  AND hourbell_schedule.deleted_at IS NULL            -- if living
ORDER BY name
LIMIT :limit
