-- statement InsertScheduleReleases
-- Notes that schedules did not start. The notes concern the schedules that follow them.
INSERT INTO hourbell_release (on_id, schedule_id, ended_at, state, reason)
SELECT value ->> 'on_id', value ->> 'schedule', value ->> 'ended_at', value ->> 'state', value ->> 'reason'
FROM jsonb_each(:rows)
