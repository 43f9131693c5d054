-- statement ListSlots, returns id schedule_id schedule_name owner slot last count outcome reason job_id job_state recorded_at after_id after_schedule, a listing
-- Records of slots, newest first. Of the records before :from, only records of several slots
-- reach it; they are few, and have an index. So the walk ends at the first of them. The schedules of hosts that are made from a
-- schedule have its name and @ as prefix.
SELECT r.id, r.schedule_id, coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = r.schedule_id), _utf8mb4'') AS schedule_name,
       coalesce((SELECT s.owner FROM hourbell_schedule AS s WHERE s.id = r.schedule_id), _utf8mb4'') AS owner, {micros(r.slot)} AS slot, {micros(r.last)} AS last, r.count, r.outcome, r.reason, coalesce(r.job_id, 0) AS job_id,
       coalesce((SELECT h.state FROM hourbell_history AS h WHERE h.id = r.job_id), (SELECT greatest(j.state, 0) FROM hourbell_job AS j WHERE j.id = r.job_id), -1) AS job_state,
       {micros(r.recorded_at)} AS recorded_at,
       coalesce(e.job_id, 0) AS after_id, coalesce(e.predecessor, _utf8mb4'') AS after_schedule
FROM hourbell_slot AS r LEFT JOIN hourbell_chain_end AS e ON e.schedule_id = r.schedule_id AND e.slot = r.slot
WHERE true
  AND r.schedule_id = :number                                                              -- if number
  AND r.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)   -- if schedule
  AND r.schedule_id IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :hosts_of   -- if hosts
                        UNION ALL SELECT s.id FROM hourbell_schedule AS s                  -- if hosts
                        WHERE s.owner = concat(_utf8mb4'every:', :hosts_of)                        -- if hosts
                          AND s.name >= concat(:hosts_of, _utf8mb4'@') AND s.name < concat(:hosts_of, _utf8mb4'A')) -- if hosts
  AND r.schedule_id IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.group_name = :group_name) -- if group
  AND r.slot >= coalesce((SELECT least(x.slot, {at(:from)}) FROM hourbell_slot AS x        -- if from
                          WHERE x.count > 1 AND x.last >= {at(:from)} ORDER BY x.slot LIMIT 1), {at(:from)}) -- if from
  AND r.last >= {at(:from)}                                                                -- if from
  AND r.slot < {at(:to)}                                                                   -- if to
  AND (r.slot < {at(:before_slot)} OR r.slot = {at(:before_slot)} AND r.id < :before_id)   -- if before
ORDER BY r.slot DESC, r.id DESC
LIMIT :limit
