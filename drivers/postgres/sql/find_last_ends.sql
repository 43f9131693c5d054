-- statement findLastEnds, takes schedules, returns id last
-- The last slot of each of these schedules, which are locked, that is the end of a job.
SELECT o.id, (SELECT e.slot FROM {schema}.chain_end AS e WHERE e.schedule_id = o.id ORDER BY e.slot DESC LIMIT 1) AS last
FROM unnest(:schedules::bigint[]) AS o (id)
