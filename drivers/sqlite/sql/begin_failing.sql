-- shared statement beginFailing
-- Records that schedules are failing from now on.
INSERT OR REPLACE INTO hourbell_failing (schedule_id, since, failures)
SELECT value ->> 'id', :now, value ->> 'failures' FROM jsonb_each(:failing)
