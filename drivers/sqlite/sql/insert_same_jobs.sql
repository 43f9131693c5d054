-- Jobs that differ in their args only; one blob has all args. A place is the offset of a
-- job's args in the blob (from 1), times 2^21, plus their length.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, timeout, priority, state, max_attempts, on_loss, origin,
                          queue, kind, args, headers)
SELECT coalesce(:run_at, now + :delay), now, :slot, :schedule, :timeout, :priority, :state, :max_attempts, :on_loss, :origin,
       :queue, :kind, substr(:bytes, value >> 21, value & 2097151), :headers
FROM (SELECT coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000) AS now)
CROSS JOIN json_each(:places)
