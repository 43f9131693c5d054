-- Inserts notes that are left for later, because other transactions have locked dependents.
INSERT INTO {schema}.release (ids, done_to, ended_at, states, reasons)
SELECT ARRAY[id], done_to, ended_at, ARRAY[state], ARRAY[reason]
FROM unnest(:ids::bigint[], :done_tos::bigint[], :ended_ats::timestamptz[], :states::smallint[], :reasons::text[]) AS o (id, done_to, ended_at, state, reason)
