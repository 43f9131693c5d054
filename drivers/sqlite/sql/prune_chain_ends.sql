-- statement PruneChainEnds
-- Deletes the oldest ends for which dependents have accounted.
DELETE FROM hourbell_chain_end WHERE (schedule_id, slot) IN (
  SELECT schedule_id, slot FROM hourbell_chain_end WHERE slot < :before AND open = 0
  ORDER BY slot
  LIMIT +:limit)
