-- Which of these slots have fired already; only a reset of the mark can ask
-- for them again. Rows are compared, and one at a time, for the planner would
-- take the index on slot alone, and walk it once for each of the thousands of
-- schedules that share an instant.
SELECT f.schedule_id, f.slot
FROM unnest($1::bigint[], $2::timestamptz[]) AS f (schedule_id, slot)
WHERE (
    SELECT true FROM {schema}.slot AS s
    WHERE (s.schedule_id, s.slot) >= (f.schedule_id, f.slot) AND (s.schedule_id, s.slot) <= (f.schedule_id, f.slot) AND s.outcome = 0
    LIMIT 1)
