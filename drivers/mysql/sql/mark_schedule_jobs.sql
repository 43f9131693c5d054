-- statement MarkScheduleJobs
-- Lets the ends of live jobs of such schedules leave rows in hourbell_release.
UPDATE (
  SELECT a.id FROM hourbell_schedule AS a FORCE INDEX (hourbell_schedule_name) WHERE a.name IN (:names) AND a.releases = 1
  UNION SELECT b.id FROM hourbell_schedule AS b FORCE INDEX (hourbell_schedule_owner) WHERE b.owner IN (:owners) AND b.releases = 1
) AS o
STRAIGHT_JOIN hourbell_job_rare AS r FORCE INDEX (hourbell_rare_schedule) ON r.schedule_id = o.id
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = r.job_id
SET j.releases = 1
WHERE j.releases = 0
