-- statement countQueueLimit, given whole, returns in_use waiting lanes
-- statement countLimit, given lanes, returns in_use waiting lanes
-- What a limit holds. Of a limit of a whole queue, the jobs that wait are the due jobs of its queue, and of its places, that no node
-- has claimed: their queues are between NAME@ and NAMEA. At most :most waiting jobs are counted.
SELECT (SELECT coalesce(sum(p.permits), 0) FROM hourbell_node_permit AS p WHERE p.limit_id = :limit) AS in_use,          -- if whole
  (SELECT count(*) FROM (                                                                                                -- if whole
    (SELECT 1 FROM hourbell_job AS j WHERE j.state = 0 AND j.queue = :queue AND j.run_at <= {at(:now)} LIMIT :most)      -- if whole
    UNION ALL                                                                                                            -- if whole
    (SELECT 1 FROM hourbell_job AS j WHERE j.state = 0 AND j.queue >= concat(:queue, _utf8mb4'@') AND j.queue < concat(:queue, _utf8mb4'A') AND j.run_at <= {at(:now)} LIMIT :most) -- if whole
    LIMIT :most) AS c) AS waiting,                                                                                       -- if whole
SELECT (SELECT coalesce(sum(n.used), 0) FROM hourbell_lane AS n WHERE n.limit_id = :limit)                              -- if lanes
    - (SELECT count(*) FROM hourbell_vacancy AS v JOIN JSON_TABLE(v.lanes, '$[*]' COLUMNS (lane BIGINT PATH '$')) AS p   -- if lanes
       STRAIGHT_JOIN hourbell_lane AS n ON n.id = p.lane WHERE n.limit_id = :limit) AS in_use,                           -- if lanes
  (SELECT count(*) FROM (                                                                                                -- if lanes
    SELECT 1 FROM hourbell_lane AS n STRAIGHT_JOIN hourbell_job_rare AS j ON j.lane = n.id WHERE n.limit_id = :limit LIMIT :most) AS c) AS waiting, -- if lanes
  (SELECT count(*) FROM hourbell_lane AS n WHERE n.limit_id = :limit AND (n.used > 0
    OR (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.lane = n.id LIMIT 1) IS NOT NULL)) AS lanes
