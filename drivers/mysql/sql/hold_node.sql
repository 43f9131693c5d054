-- statement HoldNode, given hold, returns AroundColumns
-- Reports whether a node is alive, which it stays until the end of the transaction that holds it, and
-- whether there are pauses, handlers of starts, limits, and limits of kinds and keys.
SELECT EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL
  LOCK IN SHARE MODE                                                              -- if hold
  ) AS alive,
  EXISTS (SELECT 1 FROM hourbell_pause) AS pauses,
  EXISTS (SELECT 1 FROM hourbell_handler WHERE events & 1 <> 0) AS handled,
  EXISTS (SELECT 1 FROM hourbell_job_limit WHERE ended_at IS NULL) AS limited,
  EXISTS (SELECT 1 FROM hourbell_job_limit WHERE kind <> _utf8mb4'' OR by_key <> 0) AS permits
