-- Which of these slots have fired already; only a reset of the mark can ask
-- for them again.
SELECT f.schedule_id, f.slot
FROM unnest($1::bigint[], $2::timestamptz[]) AS f (schedule_id, slot)
WHERE EXISTS (SELECT FROM {schema}.slot AS s WHERE s.schedule_id = f.schedule_id AND s.slot = f.slot AND s.outcome = 0)
