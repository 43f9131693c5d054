-- Deletes pauses that have ended and have no parked jobs. Only jobs of groups are parked.
DELETE FROM hourbell_pause
WHERE until <= :now AND (subject <> 0 OR NOT EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.group_name = hourbell_pause.name AND j.state = -1))
