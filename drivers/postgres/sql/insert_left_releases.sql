-- statement insertLeftReleases, takes numbers ids schedules done_tos ended_ats states reasons
-- Inserts notes that are left for later, because other transactions have locked dependents, or
-- because a retry has to be carried out first.
INSERT INTO {schema}.release (first_id, ids, schedules, done_to, ended_at, states, reasons)
SELECT number, ARRAY[id], ARRAY[schedule_id], done_to, ended_at, ARRAY[state], ARRAY[reason]
FROM unnest(:numbers::bigint[], :ids::bigint[], :schedules::bigint[], :done_tos::bigint[], :ended_ats::timestamptz[], :states::smallint[], :reasons::text[])
    AS o (number, id, schedule_id, done_to, ended_at, state, reason)
