-- statement lockRetriedSchedules, takes ids, returns id
-- Locks the schedules of finished jobs that are to run again, in the order of their
-- numbers, so that they do not fire concurrently.
SELECT s.id FROM {schema}.schedule AS s
WHERE s.id = ANY (ARRAY(SELECT h.schedule_id FROM {schema}.history AS h WHERE h.id = ANY (:ids::bigint[])))
ORDER BY s.id FOR UPDATE
