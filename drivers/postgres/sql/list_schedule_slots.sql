-- statement listScheduleSlots, takes schedules limit, returns id schedule_id schedule_name owner slot last count outcome reason job_id job_state recorded_at after_id after_schedule
-- The newest records of slots of each of some schedules, in the order of :schedules, newest first.
WITH found AS (
    SELECT o.place, l.*
    FROM unnest(:schedules::bigint[]) WITH ORDINALITY AS o (number, place)
        CROSS JOIN LATERAL (SELECT * FROM {schema}.slot WHERE schedule_id = o.number ORDER BY slot DESC, id DESC LIMIT :limit::bigint) AS l
)
SELECT l.id, l.schedule_id, s.name AS schedule_name, s.owner, l.slot, l.last, l.count, l.outcome, l.reason, l.job_id, {job_state(l.job_id)} AS job_state, l.recorded_at, e.job_id AS after_id, e.predecessor AS after_schedule
FROM found AS l LEFT JOIN {schema}.schedule AS s ON s.id = l.schedule_id
    LEFT JOIN {schema}.chain_end AS e ON e.schedule_id = l.schedule_id AND e.slot = l.slot
ORDER BY l.place, l.slot DESC, l.id DESC
