-- statement findHeldSchedules, takes schedules, returns schedule_id
-- The schedules with a live job that another transaction locks. The other live jobs are
-- locked, in the order of their numbers.
SELECT DISTINCT j.schedule_id
FROM {schema}.job AS j
WHERE j.schedule_id = ANY (:schedules::bigint[]) AND j.origin NOT {backfill} AND NOT j.id = ANY (ARRAY(
    SELECT l.id FROM {schema}.job AS l
    WHERE l.schedule_id = ANY (:schedules::bigint[]) AND l.origin NOT {backfill}
    ORDER BY l.id + 0 FOR UPDATE SKIP LOCKED))
