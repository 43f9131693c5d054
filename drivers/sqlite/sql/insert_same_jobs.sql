-- Jobs that differ in their args only; one blob has all args. A place is the offset of a
-- job's args in the blob (from 1), times 2^21, plus their length.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, origin, state, args, headers, {spec})
SELECT coalesce(:run_at, now + :delay), now, :slot, :schedule, :origin, :state, substr(:bytes, value >> 21, value & 2097151), :headers, {:spec}
FROM (SELECT coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000) AS now)
CROSS JOIN json_each(:places)
