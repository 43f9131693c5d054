-- statement listSlots, takes schedule from to before_slot before_id limit group_name hosts_of, returns id schedule_id schedule_name owner slot last count outcome reason job_id job_state recorded_at after_id after_schedule
-- Records of slots, newest first. A condition that is null does not count. Records that begin
-- before :from and reach it are few, and have an index; so no record before :from is read else.
WITH found AS (
    (SELECT * FROM {schema}.slot
    WHERE (:schedule::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = :schedule))
        AND (:hosts_of::text IS NULL OR {is_or_is_made_from(schedule_id, :hosts_of)})
        AND (:group_name::text IS NULL OR schedule_id IN (SELECT id FROM {schema}.schedule WHERE group_name = :group_name))
        AND (:from::timestamptz IS NULL OR slot >= :from)
        AND (:to::timestamptz IS NULL OR slot < :to)
        AND (:before_slot::timestamptz IS NULL OR (slot, id) < (:before_slot, :before_id::bigint))
    ORDER BY slot DESC, id DESC LIMIT :limit::bigint)
    UNION ALL
    (SELECT * FROM {schema}.slot
    WHERE count > 1 AND last >= :from AND slot < :from
        AND (:schedule::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = :schedule))
        AND (:hosts_of::text IS NULL OR {is_or_is_made_from(schedule_id, :hosts_of)})
        AND (:group_name::text IS NULL OR schedule_id IN (SELECT id FROM {schema}.schedule WHERE group_name = :group_name))
        AND (:to::timestamptz IS NULL OR slot < :to)
        AND (:before_slot::timestamptz IS NULL OR (slot, id) < (:before_slot, :before_id::bigint))
    OFFSET 0)
    ORDER BY slot DESC, id DESC LIMIT :limit::bigint
)
SELECT l.id, l.schedule_id, s.name AS schedule_name, s.owner, l.slot, l.last, l.count, l.outcome, l.reason, l.job_id, {job_state(l.job_id)} AS job_state, l.recorded_at, e.job_id AS after_id, e.predecessor AS after_schedule
FROM found AS l LEFT JOIN {schema}.schedule AS s ON s.id = l.schedule_id
    LEFT JOIN {schema}.chain_end AS e ON e.schedule_id = l.schedule_id AND e.slot = l.slot
ORDER BY l.slot DESC, l.id DESC
