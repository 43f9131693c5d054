-- statement findFiredSlots, takes schedules slots, returns schedule_id slot
-- Which of these slots have fired already; they are asked for only after a reset of the
-- mark. Rows are compared one at a time, because otherwise the planner would use the
-- index on slot alone, and scan it once for each of the thousands of schedules that
-- share an instant.
SELECT f.schedule_id, f.slot
FROM unnest(:schedules::bigint[], :slots::timestamptz[]) AS f (schedule_id, slot)
WHERE (
    SELECT true FROM {schema}.slot AS s
    WHERE (s.schedule_id, s.slot) >= (f.schedule_id, f.slot) AND (s.schedule_id, s.slot) <= (f.schedule_id, f.slot) AND s.outcome = 0
    LIMIT 1)
