-- statement findNewestSlots, takes schedules, returns id schedule_id slot last count outcome reason
-- The newest record of each of these schedules.
SELECT newest.id, f.schedule_id, newest.slot, newest.last, newest.count, newest.outcome, newest.reason
FROM unnest(:schedules::bigint[]) AS f (schedule_id), LATERAL (
    SELECT * FROM {schema}.slot AS s WHERE s.schedule_id = f.schedule_id ORDER BY s.slot DESC, s.id DESC LIMIT 1
) AS newest
