-- statement findScheduleJobs, takes schedule, returns id
-- The live jobs of a schedule.
SELECT j.id FROM {schema}.schedule AS s JOIN {schema}.job AS j ON j.schedule_id = s.id WHERE s.name = :schedule::text ORDER BY j.id + 0
