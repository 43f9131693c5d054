-- statement markScheduleJobs, takes schedules
-- Lets the ends of the live jobs of schedules leave rows in release. The jobs are locked in
-- the order of their numbers.
UPDATE {schema}.job SET releases = true
WHERE id = ANY (ARRAY(
    SELECT j.id FROM {schema}.job AS j WHERE j.schedule_id = ANY (:schedules::bigint[]) AND NOT j.releases ORDER BY j.id + 0 FOR UPDATE))
