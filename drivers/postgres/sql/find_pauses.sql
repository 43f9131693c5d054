-- statement findPauses, takes now, returns subject name
-- The queues and the kinds that are paused.
SELECT subject, name FROM {schema}.pause WHERE subject IN (1, 2) AND coalesce(until > coalesce(:now::timestamptz, now()), true)
