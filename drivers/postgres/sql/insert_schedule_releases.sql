-- statement insertScheduleReleases, takes on_ids schedules ended_ats states reasons
-- Notes that schedules did not start. The notes concern the schedules that follow them.
INSERT INTO {schema}.release (ids, schedules, ended_at, states, reasons)
SELECT ARRAY[id], ARRAY[schedule_id], ended_at, ARRAY[state], ARRAY[reason]
FROM unnest(:on_ids::bigint[], :schedules::bigint[], :ended_ats::timestamptz[], :states::smallint[], :reasons::text[])
    AS o (id, schedule_id, ended_at, state, reason)
