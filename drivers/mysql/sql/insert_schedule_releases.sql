-- statement InsertScheduleReleases
-- Notes that schedules did not start. The notes concern the schedules that follow them.
INSERT INTO hourbell_release (on_id, schedule_id, ended_at, state, reason)
VALUES
(:on_id, :schedule, {at(:ended_at)}, :state, :reason)
