-- statement ListSlots, returns id schedule_id schedule_name owner slot last count outcome reason job_id job_state recorded_at after_id after_schedule, a listing
-- Records of slots, newest first. Of the records before :from, only records of several slots
-- reach it; they are few, and have an index. So the walk ends at the first of them.
SELECT r.id, r.schedule_id, coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = r.schedule_id), '') AS schedule_name,
       coalesce((SELECT s.owner FROM hourbell_schedule AS s WHERE s.id = r.schedule_id), '') AS owner, r.slot, r.last, r.count, r.outcome, r.reason, coalesce(r.job_id, 0) AS job_id,
       coalesce((SELECT h.state FROM hourbell_history AS h WHERE h.id = r.job_id), (SELECT max(j.state, 0) FROM hourbell_job AS j WHERE j.id = r.job_id), -1) AS job_state,
       r.recorded_at,
       coalesce(e.job_id, 0) AS after_id, coalesce(e.predecessor, '') AS after_schedule
FROM hourbell_slot AS r LEFT JOIN hourbell_chain_end AS e ON e.schedule_id = r.schedule_id AND e.slot = r.slot
WHERE true
  AND r.schedule_id = :number                                                              -- if number
  AND r.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)   -- if schedule
  AND {is_or_is_made_from(r.schedule_id, :hosts_of)}                                       -- if hosts
  AND r.schedule_id IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.group_name = :group_name) -- if group
  AND r.slot >= coalesce((SELECT min(x.slot, :from) FROM hourbell_slot AS x                -- if from
                          WHERE x.count > 1 AND x.last >= :from ORDER BY x.slot LIMIT 1), :from) -- if from
  AND r.last >= :from                                                                      -- if from
  AND r.slot < :to                                                                         -- if to
  AND (r.slot, r.id) < (:before_slot, :before_id)                                          -- if before
ORDER BY r.slot DESC, r.id DESC
LIMIT +:limit
