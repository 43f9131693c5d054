-- statement ClearPermits
-- Takes permits from jobs, and lets jobs leave the lanes in which they wait. A parked job stays parked.
UPDATE hourbell_job SET permits = NULL, lane = NULL, state = CASE WHEN state = -1 THEN -1 ELSE 0 END WHERE id IN (SELECT value FROM json_each(:ids))
